-- When an app's first user registered, without reading the clients that never did.
create index user_account_registered on user_account (app_id, registration_received_at_ms) where is_registered;

-- What a platform has accepted, day by day and in its order. What the app's own systems were told ($) is no part of it:
-- no question about postbacks asks for that.
drop index postback_accepted;

create index postback_accepted on postback (app_id, accepted_day, changed_at_ms) where status = 1 and left(event_type, 1) <> '$'
