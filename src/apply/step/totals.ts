import type pg from "pg";
import { changeLoginTotals, LoginTotalChanges } from "../../db/login-total.ts";
import { changeOrderTotals, OrderTotalChanges } from "../../db/order-total.ts";
import { type OrderFigures, regroupOrders } from "../../db/orders.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { type Counted, changeTotals, isSameGroup, TotalChanges } from "../../db/user-total.ts";
import { UserMap } from "../entry/user-map.ts";
import type { Facts } from "../facts/facts.ts";

/** Sets the group of new orders before they are inserted: the batch may have moved their users since they were made. */
export function groupNewOrders({ users, tallies }: Facts): void {
  for (const order of tallies.orders) {
    const { registeredDay, adPlatform } = users.find(order)!;
    order.registeredDay = registeredDay;
    order.adPlatform = adPlatform;
  }
}

/** Counts what the batch changes in the totals of the lists, and moves the orders of users who are counted elsewhere. */
export async function countTotals(tx: pg.PoolClient, { users, tallies }: Facts): Promise<void> {
  const [changes, orderChanges, loginChanges] = [new TotalChanges(), new OrderTotalChanges(), new LoginTotalChanges()];
  const moved = new UserMap<{ user: UserAccount; from: Counted }>();
  for (const { user, before } of users.recounted()) {
    loginChanges.move(before, user);
    if (before && isSameGroup(before, user)) changes.grow(before, user);
    else {
      changes.enter(user);
      if (before) changes.leave(before);
      if (before && before.payCount > 0) moved.set(user, { user, from: before });
    }
  }
  for (const order of tallies.orders) orderChanges.add(order, order, 1);
  for (const order of await regroupOrders(
    tx,
    moved.values().map(({ user }) => user),
  )) {
    const { user, from } = moved.get(order)!;
    changes.addBackCents(from, -order.backCents);
    changes.addBackCents(user, order.backCents);
    orderChanges.add(order, from, -1);
    orderChanges.add(order, user, 1);
  }
  await changeLoginTotals(tx, loginChanges);
  await changeOrderTotals(tx, orderChanges);
  await changeTotals(tx, changes);
}

/** Takes a user who was erased, with these orders, out of the totals. */
export async function uncountUser(
  tx: pg.PoolClient,
  user: UserAccount,
  orders: readonly OrderFigures[],
): Promise<void> {
  const [changes, orderChanges, loginChanges] = [new TotalChanges(), new OrderTotalChanges(), new LoginTotalChanges()];
  changes.leave(user);
  loginChanges.add(user, -1);
  for (const order of orders) {
    changes.addBackCents(user, -order.backCents);
    orderChanges.add(order, user, -1);
  }
  await changeLoginTotals(tx, loginChanges);
  await changeOrderTotals(tx, orderChanges);
  await changeTotals(tx, changes);
}
