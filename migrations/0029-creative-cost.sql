-- The creative of a cost; empty where the platform or the file tells only the ad.
alter table cost add column cid text not null default '';

alter table cost drop constraint cost_pkey;

alter table cost add primary key
  (app_id, day, ad_platform, advertiser_id, gid, aid, cid, csite, channel, os_platform, turbo_promoted_object_id)
