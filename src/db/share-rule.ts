import type { Slice } from "../domain/cube.ts";
import type { ShareRule } from "../domain/user/share-rule.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/** Replaces all rules of an app. Other changes to them wait until the transaction ends. */
export async function replaceShareRules(tx: Executor, appId: number, rules: readonly ShareRule[]): Promise<void> {
  await execute(tx, sql`select 1 from app where app_id = ${appId} for no key update`);
  await execute(tx, sql`delete from pay_share_rule where app_id = ${appId}`);
  if (rules.length === 0) return;
  const fresh = rowsOf("new", rules, {
    position: ["int", (_, index) => index],
    osPlatform: "text",
    channel: "text",
    payMethod: "text",
    isVirtual: "boolean",
    fromDay: "date",
    untilDay: "date",
    shareBp: "int",
  });
  await execute(
    tx,
    sql`insert into pay_share_rule
        (app_id, position, os_platform, channel, pay_method, is_virtual, from_day, until_day, share_bp)
      select ${appId}::int, new.* from ${fresh}`,
  );
}

/** The rules of an app, in their order. */
export async function loadShareRules(executor: Executor, appId: number): Promise<ShareRule[]> {
  return query<ShareRule>(
    executor,
    sql`select os_platform, channel, pay_method, is_virtual, from_day, until_day, share_bp from pay_share_rule
      where app_id = ${appId} order by position`,
  );
}

export async function hasShareRules(executor: Executor, appId: number): Promise<boolean> {
  const rows = await query(executor, sql`select 1 from pay_share_rule where app_id = ${appId} limit 1`);
  return rows.length > 0;
}

/** What rules ask about the order o, under the names that `firstRule` uses. */
export const orderKind = sql`o.day as order_day, coalesce(o.properties ->> '$pay_method', '') as pay_method,
  o.is_virtual = 1 as is_virtual`;

/** The share of the first rule that fits a payment of the user u, as one row or none. */
export function firstRule(payment: Sql): Sql {
  return sql`(select s.share_bp from pay_share_rule s
    where s.app_id = u.app_id and s.os_platform in ('', u.os_platform) and s.channel in ('', u.channel)
      and s.pay_method in ('', ${payment}.pay_method)
      and (s.is_virtual is null or s.is_virtual = ${payment}.is_virtual)
      and (s.from_day is null or s.from_day <= ${payment}.order_day)
      and (s.until_day is null or s.until_day > ${payment}.order_day)
    order by s.position limit 1)`;
}

/** The slices that count payments or refunds of an app. */
export async function loadPaymentSlices(tx: Executor, appId: number): Promise<Slice[]> {
  return query<Slice>(
    tx,
    sql`with payer as (select u.app_id, u.cohort_day, u.registered_day from user_account u
        where u.app_id = ${appId}
          and exists (select 1 from orders o where o.app_id = ${appId} and o.client_id = u.client_id))
      select app_id, 'touch' as cohort, cohort_day as day from payer
      union select app_id, 'registered', registered_day from payer
      union select app_id, 'occurred', day from orders where app_id = ${appId}
      union select app_id, 'occurred', day from refund where app_id = ${appId} and cents > 0`,
  );
}
