import type pg from "pg";
import { changeOrderTotals, OrderTotalChanges } from "../../db/order-total.ts";
import { type OrderFigures, regroupOrders } from "../../db/orders.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { type Counted, changeTotals, isSameGroup, TotalChanges } from "../../db/user-total.ts";
import { userKeyText } from "../entry/key-text.ts";
import type { Facts } from "../facts/facts.ts";
import { countedOf } from "../facts/standing.ts";

/** Counts what the batch changes in the totals of the lists, and moves the orders of users who are counted elsewhere. */
export async function countTotals(tx: pg.PoolClient, { users, tallies }: Facts): Promise<void> {
  const [changes, orderChanges] = [new TotalChanges(), new OrderTotalChanges()];
  const moved = new Map<string, { user: UserAccount; from: Counted }>();
  for (const user of users.changed()) {
    const [before, now] = [users.before(user)?.counted, countedOf(user)];
    if (before && isSameGroup(before, now)) changes.grow(before, now);
    else {
      changes.enter(now);
      if (before) changes.leave(before);
      if (before && before.payCount > 0) moved.set(userKeyText(user), { user, from: before });
    }
  }
  for (const order of tallies.orders) orderChanges.add({ ...order, adPlatform: users.find(order)!.adPlatform }, 1);
  for (const order of await regroupOrders(
    tx,
    [...moved.values()].map(({ user }) => user),
  )) {
    const { user, from } = moved.get(userKeyText(order))!;
    changes.addBackCents(from, -order.backCents);
    changes.addBackCents(user, order.backCents);
    orderChanges.add({ ...order, adPlatform: from.adPlatform }, -1);
    orderChanges.add({ ...order, adPlatform: user.adPlatform }, 1);
  }
  await changeOrderTotals(tx, orderChanges);
  await changeTotals(tx, changes);
}

/** Takes a user who was erased, with these orders, out of the totals. */
export async function uncountUser(
  tx: pg.PoolClient,
  user: UserAccount,
  orders: readonly OrderFigures[],
): Promise<void> {
  const [changes, orderChanges] = [new TotalChanges(), new OrderTotalChanges()];
  changes.leave(countedOf(user));
  for (const { receivedAtMs, backCents } of orders) {
    changes.addBackCents(user, -backCents);
    orderChanges.add({ appId: user.appId, receivedAtMs, adPlatform: user.adPlatform }, -1);
  }
  await changeOrderTotals(tx, orderChanges);
  await changeTotals(tx, changes);
}
