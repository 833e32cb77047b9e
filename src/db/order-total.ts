import { DAY_MS } from "../domain/calendar.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, sql } from "./engine/sql.ts";
import type { UserGroup } from "./user-total.ts";

/** The orders of an app that were received on a day of UTC from users of a platform. */
type OrderTotal = { appId: number; receivedDay: number; adPlatform: string; orders: number };

/** The changes of a transaction, summed up. */
export class OrderTotalChanges {
  readonly #changes = new Map<string, OrderTotal>();

  add({ receivedAtMs }: { receivedAtMs: number }, { appId, adPlatform }: UserGroup, orders: 1 | -1): void {
    const receivedDay = Math.floor(receivedAtMs / DAY_MS);
    const key = `${appId} ${receivedDay} ${adPlatform}`;
    const known = this.#changes.get(key) ?? { appId, receivedDay, adPlatform, orders: 0 };
    known.orders += orders;
    this.#changes.set(key, known);
  }

  list(): OrderTotal[] {
    return [...this.#changes.values()].filter(({ orders }) => orders !== 0);
  }
}

/** Only apply changes these totals, because nobody else stores, moves or deletes orders. */
export async function changeOrderTotals(tx: Executor, changes: OrderTotalChanges): Promise<void> {
  const list = changes.list();
  if (list.length === 0) return;
  const columns = { appId: "int", receivedDay: "int", adPlatform: "text", orders: "bigint" } as const;
  await execute(
    tx,
    sql`insert into order_total as t (app_id, received_day, ad_platform, orders)
      select * from ${newRows(tx, "changed", list, columns)}
      on conflict (app_id, received_day, ad_platform) do update set orders = t.orders + excluded.orders`,
  );
  const fewer = list.filter(({ orders }) => orders < 0);
  if (fewer.length === 0) return;
  await execute(
    tx,
    sql`delete from order_total t using ${rowsOf("fewer", fewer, columns)} where t.app_id = fewer.app_id
      and t.received_day = fewer.received_day and t.ad_platform = fewer.ad_platform and t.orders = 0`,
  );
}
