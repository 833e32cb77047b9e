-- The orders that the lists can be sorted by. Values that many users share are stored once, with about eight bytes per
-- user. Equal users are in no order here: they are read from the primary key, or are few. Users of other platforms, and
-- for orders those who have not paid, are passed by without being read.
create index user_account_channel on user_account (app_id, channel collate "C", ad_platform, (pay_count > 0));
create index user_account_version on user_account (app_id, version, ad_platform, (pay_count > 0));
create index user_account_campaign on user_account (app_id, turbo_promoted_object_id collate "C", ad_platform, (pay_count > 0));
create index user_account_advertiser on user_account (app_id, advertiser_id collate "C", ad_platform, (pay_count > 0));
create index user_account_aid on user_account (app_id, aid collate "C", ad_platform, (pay_count > 0));
-- Only the start: a client may send an open id of any length.
create index user_account_openid on user_account (app_id, (left(wx_openid, 64)) collate "C");
-- The planner knows nothing of the start of an open id until then, and would take it as one that many users share.
analyze user_account;

-- Equal orders are read in this order.
create index orders_trace on orders (app_id, trace_id) include (client_id);

-- How many users were last active on each day, by platform; -infinity: never. Changed in the transactions that change
-- the users, so it always equals what would be counted.
create table login_total (
  app_id integer not null,
  latest_login_day date not null,
  ad_platform text not null,
  users bigint not null,
  primary key (app_id, latest_login_day, ad_platform)
) with (fillfactor = 50);

insert into login_total (app_id, latest_login_day, ad_platform, users)
select app_id, coalesce(latest_login_day, '-infinity'), ad_platform, count(*) from user_account group by 1, 2, 3;
