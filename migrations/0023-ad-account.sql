-- The accounts whose costs name a plan or an ad: a user whose launch names only the ad finds their account here.
-- is_counted: the cube has been marked where its users are.
create table ad_account (
  app_id int not null,
  ad_platform text not null,
  level text not null,
  object_id text not null,
  advertiser_id text not null,
  noted_at_ms bigint not null,
  is_counted boolean not null default false,
  primary key (app_id, ad_platform, level, object_id, advertiser_id)
);
create index ad_account_new on ad_account (app_id) where not is_counted;

insert into ad_account (app_id, ad_platform, level, object_id, advertiser_id, noted_at_ms)
select app_id, ad_platform, 'ad', aid, advertiser_id, max(changed_at_ms) from cost
where ad_platform <> '' and advertiser_id <> '' and aid <> '' group by app_id, ad_platform, aid, advertiser_id
union all
select app_id, ad_platform, 'plan', gid, advertiser_id, max(changed_at_ms) from cost
where ad_platform <> '' and advertiser_id <> '' and gid <> '' group by app_id, ad_platform, gid, advertiser_id;

create index user_account_ad on user_account (app_id, ad_platform, aid) where advertiser_id = '' and aid <> '';
create index user_account_plan on user_account (app_id, ad_platform, gid) where advertiser_id = '' and gid <> '';
