-- Share of a payment that is the studio's own after the platform's, in ten-thousandths: for roi_version 2.
alter table app add column pay_share_bp integer not null default 10000;

-- Where the user stands on the date axis of the first caliber: the local day of the winning touch, else of the registration.
alter table user_account add column place_day date;

update user_account u set place_day = coalesce((to_timestamp(u.touched_at_ms / 1000.0) at time zone a.time_zone)::date, u.registered_day)
  from app a where a.app_id = u.app_id;

alter table user_account alter column place_day set not null;

create index user_account_place_day on user_account (app_id, place_day);

-- Values that reports group by are short from now on, so that indexes can hold them.
update user_account set channel = case when octet_length(channel) > 200 then left(channel, 50) else channel end,
  turbo_promoted_object_id = case when octet_length(turbo_promoted_object_id) > 200 then left(turbo_promoted_object_id, 50) else turbo_promoted_object_id end,
  advertiser_id = case when octet_length(advertiser_id) > 200 then left(advertiser_id, 50) else advertiser_id end,
  gid = case when octet_length(gid) > 200 then left(gid, 50) else gid end,
  aid = case when octet_length(aid) > 200 then left(aid, 50) else aid end,
  cid = case when octet_length(cid) > 200 then left(cid, 50) else cid end,
  csite = case when octet_length(csite) > 200 then left(csite, 50) else csite end
  where octet_length(channel || turbo_promoted_object_id || advertiser_id || gid || aid || cid || csite) > 200;

-- The days of registration, and the order of the user list (who registers later is on the last pages), with what it is
-- filtered by: counting and paging then go without the users themselves.
create index user_account_listed on user_account (app_id, registered_day, registered_at_ms, client_id)
  include (ad_platform, channel, version, turbo_promoted_object_id, advertiser_id, gid, aid, cid);

-- The same for who has paid, with what the order list sums up, in the order in which the users are stored. An index of
-- its own, because these figures change: only a payment has to touch it.
create index user_account_payer on user_account (app_id, registered_day, client_id)
  include (pay_count, pay_cents, pay_max_cents, ad_platform, channel, version, turbo_promoted_object_id, advertiser_id, gid, aid, cid)
  where pay_count > 0;

create index user_day_day on user_day (app_id, day);

-- What became of the order's postback: 0 not sent, 1 accepted, 2 given up, 3 skipped.
alter table orders add column postback_status integer not null default 0;

alter table orders add column back_cents bigint not null default 0;

alter table orders add column pass_status integer not null default 0;

alter table orders add column postback_count integer not null default 0;

-- The order of the order list: as received, so that what arrives later is on the last pages.
create index orders_received_at on orders (app_id, received_at_ms, trace_id);

create index orders_at on orders (app_id, at_ms);

create index orders_sent_back on orders (app_id, client_id) include (back_cents) where back_cents <> 0;

-- One per user, event type and what it is about: an order's trace_id, a day, or nothing.
create table postback (
  app_id integer not null,
  client_id text collate "C" not null,
  event_type text not null,
  subject text collate "C" not null,
  status integer not null,
  back_cents bigint not null,
  accepted_day date,
  primary key (app_id, client_id, event_type, subject)
);

-- What ads cost, as the platforms or a file say. Money in ten-thousandths of the major unit.
create table cost (
  app_id integer not null,
  day date not null,
  ad_platform text not null,
  advertiser_id text not null,
  gid text not null,
  aid text not null,
  csite text not null,
  channel text not null,
  os_platform text not null,
  turbo_promoted_object_id text not null,
  impressions bigint not null,
  clicks bigint not null,
  cost_e4 bigint not null,
  changed_at_ms bigint not null,
  primary key (app_id, day, ad_platform, advertiser_id, gid, aid, csite, channel, os_platform, turbo_promoted_object_id)
);

-- Accounts at the ad platforms. Not of one app: an account may advertise several.
create table advertiser (
  ad_platform text not null,
  advertiser_id text not null,
  name text not null,
  status text not null,
  remark text not null,
  operator text not null,
  dept text not null,
  primary key (ad_platform, advertiser_id)
);

-- Names of plans and ads.
create table ad_object (
  ad_platform text not null,
  level text not null,
  object_id text not null,
  name text not null,
  status text not null,
  primary key (ad_platform, level, object_id)
);

-- The campaigns whose links plans and ads were seen with: a cost that names only the ad finds its campaign here.
create table ad_campaign (
  app_id integer not null,
  ad_platform text not null,
  level text not null,
  object_id text not null,
  turbo_promoted_object_id text not null,
  primary key (app_id, ad_platform, level, object_id, turbo_promoted_object_id)
);

-- What the ad report adds up: one row per slice and combination of dimensions. A slice is an app's day in one placement:
--   touch       users on the day of their touch, with all that they ever did
--   registered  users on the day of their registration, with their windows and returns
--   occurred    what happened on the day, whoever did it
-- Windows: _d by calendar days, _s by spans of 24 hours. Nothing is null rather than 0: most columns of most rows are.
-- Gaps: for each user of the row, the days since the one before on which the user was there, paid, saw an ad; sorted.
create table cube (
  app_id integer not null,
  day date not null,
  placement text not null,
  ad_platform text not null,
  advertiser_id text not null,
  gid text not null,
  aid text not null,
  channel text not null,
  os_platform text not null,
  csite text not null,
  turbo_promoted_object_id text not null,
  users bigint,
  real_users bigint,
  register_users bigint,
  active_users bigint,
  payers bigint,
  first_payers bigint,
  ad_users bigint,
  pay_cents bigint,
  pay_count bigint,
  ad_micros bigint,
  ad_count bigint,
  pay_d1 bigint,
  pay_d3 bigint,
  pay_d7 bigint,
  pay_d14 bigint,
  pay_d30 bigint,
  pay_s1 bigint,
  pay_s3 bigint,
  pay_s7 bigint,
  pay_s14 bigint,
  pay_s30 bigint,
  ad_d1 bigint,
  ad_d3 bigint,
  ad_d7 bigint,
  ad_d14 bigint,
  ad_d30 bigint,
  ad_s1 bigint,
  ad_s3 bigint,
  ad_s7 bigint,
  ad_s14 bigint,
  ad_s30 bigint,
  kept_1 bigint,
  kept_2 bigint,
  kept_3 bigint,
  kept_4 bigint,
  kept_5 bigint,
  kept_6 bigint,
  kept_7 bigint,
  kept_14 bigint,
  kept_30 bigint,
  postbacks bigint,
  postback_cents bigint,
  active_gaps integer[],
  pay_gaps integer[],
  ad_gaps integer[]
);

create index cube_slice on cube (app_id, placement, day);

-- Which slices of the cube are out of date. Marks are numbered: `since` is the first mark that is not in the cube yet,
-- null where all are, and `marked` the last one, so that a mark made while the slice is being counted is not lost.
create sequence mark_number;

create table dirty_day (
  app_id integer not null,
  placement text not null,
  day date not null,
  marked bigint not null,
  since bigint,
  marked_at_ms bigint not null,
  primary key (app_id, placement, day)
);

insert into dirty_day (app_id, placement, day, marked, since, marked_at_ms)
  select app_id, placement, day, 0, 0, 0 from (
    select app_id, 'touch' as placement, place_day as day from user_account
    union select app_id, 'registered', registered_day from user_account
    union select app_id, 'occurred', day from user_day) slice
