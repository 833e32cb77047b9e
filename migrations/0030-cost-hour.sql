-- The parts of the costs of ads that fell into an hour of the day, "00" to "23", where the platform tells them.
create table cost_hour (
  app_id integer not null,
  day date not null,
  ad_platform text not null,
  advertiser_id text not null,
  gid text not null,
  aid text not null,
  hour text not null,
  impressions bigint not null,
  clicks bigint not null,
  cost_e4 bigint not null,
  primary key (app_id, day, ad_platform, advertiser_id, gid, aid, hour)
)
