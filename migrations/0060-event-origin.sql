-- What the events of a user have in common on a day, such as the phone and its address: stored once instead of with each event. An
-- event that names an origin has only the rest of its properties itself. Those of stored events stay as they are.
create table event_origin (
  app_id integer not null,
  day date not null,
  client_id text collate "C" not null,
  origin_id bigint not null,
  -- The beginning of the JSON text, which properties_rest continues.
  properties_text text not null,
  primary key (app_id, day, client_id, origin_id)
);
alter table event add column origin_id bigint;
alter table event add column properties_rest text;
-- The origin of the user's latest day that is stored for sure, so that it need not be looked for with each batch of events.
alter table user_account add column origin_day date;
alter table user_account add column origin_id bigint;
