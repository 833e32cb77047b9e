-- How many touches the links of a campaign have brought on a local day. Touches themselves are found by what they share with
-- a user, not by their campaign.
create table touch_day (
  app_id integer not null,
  turbo_promoted_object_id text collate "C" not null,
  day date not null,
  clicks bigint not null,
  impressions bigint not null,
  primary key (app_id, turbo_promoted_object_id, day)
);

insert into touch_day (app_id, turbo_promoted_object_id, day, clicks, impressions)
  select t.app_id, t.turbo_promoted_object_id, (to_timestamp(t.touched_at_ms / 1000.0) at time zone a.time_zone)::date,
    count(*) filter (where t.kind = 'click'), count(*) filter (where t.kind = 'impression')
  from touch t join app a on a.app_id = t.app_id
  where t.turbo_promoted_object_id <> '' and octet_length(t.turbo_promoted_object_id) <= 200
  group by 1, 2, 3;

-- Of rules that are about the same, the first one that fits counts: this is their order.
alter table postback_rule add column position integer not null default 0;

update postback_rule set position = rule_id;

-- Until when nothing is sent to somebody who is down. A row of the past says nothing.
create table lane_pause (
  lane text collate "C" primary key,
  paused_until_ms bigint not null,
  failures integer not null,
  noted_at_ms bigint not null
);
