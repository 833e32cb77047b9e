-- Additive counters of the ads of one unit that a user was shown, by the days and spans of user_day. Ads without a unit
-- are not in it. reported: the client told what the ad earned; unpriced: it did not.
create table user_ad_day (
  app_id integer not null,
  client_id text collate "C" not null,
  day date not null,
  span_t integer not null,
  span_r integer not null,
  ad_unit text collate "C" not null,
  reported_count integer not null,
  reported_micros bigint not null,
  unpriced_count integer not null,
  primary key (app_id, client_id, day, span_t, span_r, ad_unit)
) with (fillfactor = 90);
create index user_ad_day_unit on user_ad_day (app_id, day, ad_unit);

-- What an ad unit earns in a period, as people estimate it: millionths of the major unit for one shown ad.
-- until_day is not part of the period; null: the period has no end.
create table ad_ecpm (
  app_id integer not null,
  ad_unit text collate "C" not null,
  from_day date not null,
  until_day date check (until_day > from_day),
  view_micros bigint not null,
  changed_at_ms bigint not null,
  primary key (app_id, ad_unit, from_day)
);

-- Ad units and days whose revenue has changed, until the slices of the cube that count it have been marked.
create table ad_revenue_change (
  app_id integer not null,
  ad_unit text collate "C" not null,
  from_day date not null,
  until_day date,
  noted_at_ms bigint not null
);

alter table cube add column ad_reported_micros bigint;
alter table cube add column ad_estimated_micros bigint;
update cube set ad_reported_micros = ad_micros where ad_micros is not null;

insert into user_ad_day
select app_id, client_id, day, span_t, span_r, ad_unit, count(*) filter (where micros <> 0), sum(micros), count(*) filter (where micros = 0)
from (
  select e.app_id, e.client_id, e.day,
    floor((e.at_ms - coalesce(u.touched_at_ms, u.registered_at_ms)) / 86400000.0)::int as span_t,
    floor((e.at_ms - u.registered_at_ms) / 86400000.0)::int as span_r,
    case when octet_length(e.properties ->> '$ad_unit_id') > 200 then left(e.properties ->> '$ad_unit_id', 50)
      else e.properties ->> '$ad_unit_id' end as ad_unit,
    case when jsonb_typeof(e.properties -> '$ecpm') = 'number'
      then round(least((e.properties ->> '$ecpm')::numeric * 1000, 9007199254740991)) else 0 end::bigint as micros
  from event e join user_account u on u.app_id = e.app_id and u.client_id = e.client_id
  where e.type = 'track' and e.event = '$AdShow' and jsonb_typeof(e.properties -> '$ad_unit_id') in ('string', 'number')
) shown where ad_unit <> '' group by app_id, client_id, day, span_t, span_r, ad_unit;
