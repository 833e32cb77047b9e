import type pg from "pg";
import { type MarkedDay, markLake, noteLateEvents } from "../../db/lake-mark.ts";
import type { LakeKind } from "../../domain/lake.ts";
import type { Facts } from "../facts/facts.ts";
import type { Refunded } from "./refunds.ts";

/** Marks the days whose files lack what the batch has stored, in the batch's own transaction. */
export async function markLakeDays(
  tx: pg.PoolClient,
  { users, tallies, news }: Facts,
  { refunded, receivedAtMs }: { refunded: Refunded; receivedAtMs: number },
): Promise<void> {
  if (!news.isWanted) return;
  const days = new Map<string, MarkedDay>();
  const mark = (appId: number, kind: LakeKind, day: string) =>
    days.set(`${appId} ${kind} ${day}`, { appId, kind, day, again: true, receivedMs: 0 });
  for (const { appId, day } of [...tallies.orders, ...refunded.orders]) mark(appId, "orders", day);
  const regrouped = new Set(users.regrouped());
  for (const user of users.changed()) {
    const isSame = !regrouped.has(user) && !users.ownProfiles.has(user.properties) && !users.isShownAnew(user);
    if (isSame) continue;
    mark(user.appId, "users", user.registeredDay);
    const before = users.before(user)?.counted.registeredDay;
    if (before !== undefined) mark(user.appId, "users", before);
  }
  await markLake(tx, [...news.days(), ...days.values()], receivedAtMs);
  await noteLateEvents(tx, news.late);
}
