create table campaign (
  app_id integer not null,
  turbo_promoted_object_id text collate "C" not null,
  name text not null,
  ad_platform text not null,
  channel text not null,
  os_platform text not null,
  operator text not null,
  dept text not null,
  created_at_ms bigint not null,
  primary key (app_id, turbo_promoted_object_id)
);

-- ad_platform is empty for the rules of the whole app; rules holds only what differs from the defaults.
create table attribution_setting (
  app_id integer not null,
  ad_platform text not null,
  rules jsonb not null,
  changed_at_ms bigint not null,
  primary key (app_id, ad_platform)
);

create table platform_secret (
  app_id integer not null,
  ad_platform text not null,
  name text not null,
  value_sealed text not null,
  primary key (app_id, ad_platform, name)
);

-- Which weeks (named by their Monday) have partitions of touches, and which were dropped and take no more.
create table touch_week (
  week date primary key,
  state text not null
);

-- touch_id is made of what the touch is, so the same one reported twice is one row.
create table touch (
  app_id integer not null,
  touch_id uuid not null,
  week date not null,
  kind text not null,
  ad_platform text not null,
  touched_at_ms bigint not null,
  received_at_ms bigint not null,
  turbo_promoted_object_id text not null,
  channel text not null,
  advertiser_id text not null,
  gid text not null,
  aid text not null,
  cid text not null,
  csite text not null,
  ip text not null,
  details jsonb not null,
  primary key (app_id, touch_id, week)
) partition by range (week);

-- The ledger of touches, in the form of ledger_minute.
create table touch_minute (
  app_id integer not null,
  minute_ms bigint not null,
  outcome text not null,
  events bigint not null,
  primary key (app_id, minute_ms, outcome)
);

-- How a registration finds its touches. key_value is a hash of the kind of key and of the key.
create table touch_key (
  app_id integer not null,
  key_value uuid not null,
  touched_at_ms bigint not null,
  touch_id uuid not null,
  week date not null,
  primary key (app_id, key_value, touched_at_ms, touch_id, week)
) partition by range (week);

-- How a touch that comes late finds the users who registered after it.
create table user_key (
  app_id integer not null,
  key_value uuid not null,
  at_ms bigint not null,
  client_id text collate "C" not null,
  method text not null,
  primary key (app_id, key_value, at_ms, client_id)
);

-- Number 1 is the decision on the registration; a higher one is a return that was attributed anew.
create table attribution_decision (
  app_id integer not null,
  client_id text collate "C" not null,
  number integer not null,
  at_ms bigint not null,
  decided_at_ms bigint not null,
  method text not null,
  ad_platform text not null,
  touch_id uuid,
  touched_at_ms bigint,
  turbo_promoted_object_id text not null,
  flags text[] not null,
  subject jsonb not null,
  candidates jsonb not null,
  primary key (app_id, client_id, number)
);

-- Tokens that wait to be resolved at Apple. A queue: stays on one node where the other tables are distributed.
create table asa_token (
  app_id integer not null,
  client_id text collate "C" not null,
  token text not null,
  token_digest text not null,
  received_at_ms bigint not null,
  attempts integer not null,
  due_at_ms bigint not null,
  outcome text not null,
  primary key (app_id, client_id)
);

alter table user_account add column launch jsonb not null default '{}';

alter table user_account add column method text not null default '';

alter table user_account add column decision_number integer not null default 0;

alter table user_account add column returned jsonb
