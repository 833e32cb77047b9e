-- Days whose events are only in the lake (EVENT_HOT_DAYS) have the state 'cold'; lake_id names the lake that has them. Their partitions
-- stay, for events that come later and wait until their day is written again.
alter table event_day add column lake_id text not null default '';

-- Users who were renamed or erased, as digests of their ids: their rows in the files of a cold day no longer count, and the next
-- files of the day lack them.
create table lake_gone (
  app_id integer not null,
  day date not null,
  client_digest uuid not null,
  primary key (app_id, day, client_digest)
);

-- Grows whenever a day becomes cold, so that those who apply notice it with what they read anyway.
alter table apply_holder add column freezes bigint not null default 0;
