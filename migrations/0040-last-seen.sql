-- When the user was last seen: the latest event that is not a refund. Null for users of whom nothing has come since this
-- column exists; latest_event_at_ms tells it then.
alter table user_account add column last_seen_at_ms bigint;
