-- What the ads that a player was shown earned on a day, where the platform tells it by player. Money in millionths of the
-- major unit. An empty open_id stands for players whom nobody is to know.
create table ad_revenue_user (
  app_id integer not null,
  day date not null,
  open_id text collate "C" not null,
  ad_platform text not null,
  advertiser_id text not null,
  views bigint not null,
  micros bigint not null,
  changed_at_ms bigint not null,
  primary key (app_id, day, open_id, ad_platform, advertiser_id)
);

-- Whether pulled_micros comes from ad_revenue_user; else it is the ads' share of what their unit earned.
alter table user_ad_day add column is_told_by_user boolean not null default false;

-- The ads without a unit, which platforms that tell revenue by player do not need. Their unit is empty.
insert into user_ad_day (app_id, client_id, day, span_t, span_r, ad_unit, reported_count, reported_micros, unpriced_count)
select app_id, client_id, day, span_t, span_r, '', count(*) filter (where micros <> 0), sum(micros), count(*) filter (where micros = 0)
from (
  select e.app_id, e.client_id, e.day,
    floor((e.at_ms - coalesce(u.touched_at_ms, u.registered_at_ms)) / 86400000.0)::int as span_t,
    floor((e.at_ms - u.registered_at_ms) / 86400000.0)::int as span_r,
    case when jsonb_typeof(e.properties -> '$ecpm') = 'number'
      then round(least((e.properties ->> '$ecpm')::numeric * 1000, 9007199254740991)) else 0 end::bigint as micros
  from event e join user_account u on u.app_id = e.app_id and u.client_id = e.client_id
  where e.type = 'track' and e.event = '$AdShow'
    and case when jsonb_typeof(e.properties -> '$ad_unit_id') in ('string', 'number') then e.properties ->> '$ad_unit_id' = '' else true end
) shown group by app_id, client_id, day, span_t, span_r;
