import type pg from "pg";
import { regroupOrders } from "../../db/orders.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { type Counted, changeTotals, isSameGroup, TotalChanges } from "../../db/user-total.ts";
import { userKeyText } from "../entry/key-text.ts";
import type { BatchUsers } from "../facts/batch-users.ts";
import { countedOf } from "../facts/standing.ts";

/** Counts what the batch changes in the totals of the lists, and moves the orders of users who are counted elsewhere. */
export async function countTotals(tx: pg.PoolClient, users: BatchUsers): Promise<void> {
  const changes = new TotalChanges();
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
  for (const told of await regroupOrders(
    tx,
    [...moved.values()].map(({ user }) => user),
  )) {
    const { user, from } = moved.get(userKeyText(told))!;
    changes.addBackCents(from, -told.backCents);
    changes.addBackCents(user, told.backCents);
  }
  await changeTotals(tx, changes);
}
