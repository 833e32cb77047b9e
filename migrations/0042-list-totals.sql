-- The user's day of registration and platform also stand in the user's orders: the order list is filtered by them, and
-- any of its pages is then read from one index, without the users.
drop index orders_received_at;
alter table orders add column registered_day date not null default '1970-01-01';
alter table orders alter column registered_day drop default;
alter table orders add column ad_platform text not null default '';
alter table orders alter column ad_platform drop default;
update orders o set registered_day = u.registered_day, ad_platform = u.ad_platform
  from user_account u where u.app_id = o.app_id and u.client_id = o.client_id;

-- The order of the order list, as received, with what it is filtered by.
create index orders_listed on orders (app_id, received_at_ms, trace_id) include (client_id, registered_day, ad_platform);

-- The order of the user list by payments. Most users never pay.
create index user_account_paid on user_account (app_id, pay_cents desc, client_id) where pay_cents <> 0;

-- What the lists show of all users who registered on a day through a platform, and of their orders. Changed in the
-- transactions that change the users and orders, so it always equals what would be counted. A group without users has no
-- row. Amounts are numeric: absurd ones, which a user may have, must not overflow where many are added up.
create table user_total (
  app_id integer not null,
  registered_day date not null,
  ad_platform text not null,
  users bigint not null,
  pay_count bigint not null,
  pay_cents numeric not null,
  pay_max_cents bigint not null,
  back_cents numeric not null,
  primary key (app_id, registered_day, ad_platform)
) with (fillfactor = 50);

insert into user_total (app_id, registered_day, ad_platform, users, pay_count, pay_cents, pay_max_cents, back_cents)
select u.app_id, u.registered_day, u.ad_platform, u.users, u.pay_count, u.pay_cents, u.pay_max_cents, coalesce(o.back_cents, 0)
from (
  select app_id, registered_day, ad_platform, count(*) as users, sum(pay_count) as pay_count, sum(pay_cents) as pay_cents,
    max(pay_max_cents) as pay_max_cents
  from user_account group by app_id, registered_day, ad_platform) u
left join (
  select app_id, registered_day, ad_platform, sum(back_cents) as back_cents
  from orders where back_cents <> 0 group by app_id, registered_day, ad_platform) o using (app_id, registered_day, ad_platform);

-- How many orders were received on each day (of UTC, counted from 1970), by the platform of their users: where a page of
-- the order list stands.
create table order_total (
  app_id integer not null,
  received_day integer not null,
  ad_platform text not null,
  orders bigint not null,
  primary key (app_id, received_day, ad_platform)
) with (fillfactor = 50);

insert into order_total (app_id, received_day, ad_platform, orders)
select app_id, received_at_ms / 86400000, ad_platform, count(*) from orders group by 1, 2, 3;
