import type pg from "pg";

/** The totals of the lists that differ from what the users and their orders add up to, and the orders of other groups. */
export async function wrongTotals(pool: pg.Pool): Promise<object[]> {
  const { rows: totals } = await pool.query(
    `select app_id, registered_day, ad_platform, to_jsonb(t) as is, to_jsonb(c) as should from user_total t
     full join (
       select u.app_id, u.registered_day, u.ad_platform, count(*) as users, sum(u.pay_count) as pay_count,
         sum(u.pay_cents) as pay_cents, max(u.pay_max_cents) as pay_max_cents, coalesce(sum(o.back_cents), 0) as back_cents
       from user_account u
       left join (select app_id, client_id, sum(back_cents) as back_cents from orders group by 1, 2) o using (app_id, client_id)
       group by 1, 2, 3) c using (app_id, registered_day, ad_platform)
     where (t.users, t.pay_count, t.pay_cents, t.pay_max_cents, t.back_cents) is distinct from
       (c.users, c.pay_count, c.pay_cents, c.pay_max_cents, c.back_cents)`,
  );
  const { rows: orders } = await pool.query(
    `select o.app_id, o.trace_id, o.registered_day, o.ad_platform from orders o left join user_account u using (app_id, client_id)
     where (o.registered_day, o.ad_platform) is distinct from (u.registered_day, u.ad_platform)`,
  );
  const { rows: days } = await pool.query(
    `select app_id, received_day, ad_platform, t.orders as is, c.orders as should from order_total t
     full join (
       select app_id, (received_at_ms / 86400000)::int as received_day, ad_platform, count(*) as orders from orders group by 1, 2, 3) c
       using (app_id, received_day, ad_platform)
     where t.orders is distinct from c.orders`,
  );
  const { rows: logins } = await pool.query(
    `select app_id, latest_login_day, ad_platform, t.users as is, c.users as should from login_total t
     full join (
       select app_id, coalesce(latest_login_day, '-infinity') as latest_login_day, ad_platform, count(*) as users
       from user_account group by 1, 2, 3) c using (app_id, latest_login_day, ad_platform)
     where t.users is distinct from c.users`,
  );
  // The user list looks for those who were last active on a day among those who were active on it.
  const { rows: active } = await pool.query(
    `select u.app_id, u.client_id, u.latest_login_day, d.day from user_account u
     left join (select app_id, client_id, max(day) as day from user_day group by 1, 2) d using (app_id, client_id)
     where u.latest_login_day is distinct from d.day`,
  );
  return [...totals, ...orders, ...days, ...logins, ...active];
}
