-- What ad units earned on a day, as their platform says. Money in millionths of the major unit.
create table ad_revenue (
  app_id integer not null,
  day date not null,
  ad_unit text collate "C" not null,
  ad_platform text not null,
  advertiser_id text not null,
  views bigint not null,
  micros bigint not null,
  changed_at_ms bigint not null,
  primary key (app_id, day, ad_unit, ad_platform, advertiser_id)
);

-- The unpriced ads' share of what the platform says; null: it has not said anything.
alter table user_ad_day add column pulled_micros bigint;

-- ecpm: the estimate has changed; revenue: what the platform says; views: the ads that it is spread over.
alter table ad_revenue_change add column kind text not null default 'ecpm';
create index ad_revenue_change_rare on ad_revenue_change (app_id) where kind <> 'views';

alter table cube add column ad_pulled_micros bigint;
