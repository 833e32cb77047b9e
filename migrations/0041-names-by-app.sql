-- Names belong to an app: what its accounts' pulls tell is nobody else's. app_id 0: imported for all apps.
alter table advertiser add column app_id integer not null default 0;
alter table advertiser alter column app_id drop default;
alter table advertiser drop constraint advertiser_pkey;
alter table advertiser add primary key (app_id, advertiser_id, ad_platform);

alter table ad_object add column app_id integer not null default 0;
alter table ad_object alter column app_id drop default;
alter table ad_object drop constraint ad_object_pkey;
alter table ad_object add primary key (app_id, level, object_id, ad_platform);

-- Nothing tells whether a stored name was pulled or imported. Every app that knows the id gets it; what no app knows
-- stays for all. (No temporary table: the role of a server may lack the privilege to make one.)
create table known_id as
select distinct app_id, ad_platform, level, object_id from (
  select c.app_id, c.ad_platform, i.level, i.object_id from (
    select distinct app_id, ad_platform, advertiser_id, gid, aid, cid from cost
    union select distinct app_id, ad_platform, advertiser_id, gid, aid, cid from user_account
    union select app_id, ad_platform, advertiser_id, '', '', '' from platform_account) c
  cross join lateral (values ('account', c.advertiser_id), ('plan', c.gid), ('ad', c.aid), ('creative', c.cid)) i (level, object_id)
) named where object_id <> '';

insert into advertiser (app_id, ad_platform, advertiser_id, name, status, remark, operator, dept)
select k.app_id, a.ad_platform, a.advertiser_id, a.name, a.status, a.remark, a.operator, a.dept from advertiser a
join known_id k on k.level = 'account' and k.ad_platform = a.ad_platform and k.object_id = a.advertiser_id;
delete from advertiser a where app_id = 0 and exists (
  select 1 from known_id k where k.level = 'account' and k.ad_platform = a.ad_platform and k.object_id = a.advertiser_id);

insert into ad_object (app_id, ad_platform, level, object_id, name, status)
select k.app_id, o.ad_platform, o.level, o.object_id, o.name, o.status from ad_object o
join known_id k on k.level = o.level and k.ad_platform = o.ad_platform and k.object_id = o.object_id;
delete from ad_object o where app_id = 0 and exists (
  select 1 from known_id k where k.level = o.level and k.ad_platform = o.ad_platform and k.object_id = o.object_id);

drop table known_id;
