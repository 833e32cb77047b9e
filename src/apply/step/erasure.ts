import type pg from "pg";
import type { ColdEvents } from "../../db/cold-event.ts";
import { loadDaysOfUsers, markSlices } from "../../db/dirty-day.ts";
import { eraseUser, loadAcceptedDays, noteErasure } from "../../db/erased-user.ts";
import { tellGone } from "../../db/gone-client.ts";
import { markLakeOfUser } from "../../db/lake-mark.ts";
import { loadUsers } from "../../db/user-account.ts";
import type { Slice } from "../../domain/cube.ts";
import type { ErasureEntry } from "../entry/decode.ts";
import type { ErasureContext } from "../facts/erasures.ts";
import { eraseCold } from "./cold.ts";
import { uncountUser } from "./totals.ts";

/**
 * Takes a user out of the tables, and marks every slice of the cube in which the user was counted. The ledger stays: it
 * counts the outcomes of events and names nobody.
 *
 * The entry follows everything that it erases in the journal, so that a replay ends without the user too. The note made
 * here keeps out what arrives outside that order (see BatchUsers.isErased).
 */
export async function applyErasure(
  tx: pg.PoolClient,
  entry: ErasureEntry,
  { journalId = "", erasureDigest, cold }: ErasureContext & { cold: ColdEvents | undefined },
): Promise<void> {
  const key = entry.user;
  const { appId } = key;
  const atMs = entry.head.at;
  const [user] = await loadUsers(tx, [key]);
  const slices: Slice[] = (await loadDaysOfUsers(tx, [key])).map(({ day }) => ({ appId, cohort: "occurred", day }));
  for (const day of await loadAcceptedDays(tx, key)) slices.push({ appId, cohort: "occurred", day });
  if (user) {
    slices.push({ appId, cohort: "touch", day: user.cohortDay });
    slices.push({ appId, cohort: "registered", day: user.registeredDay });
  }
  // Noted first: see withoutErased.
  const digests = [erasureDigest.of(key)];
  if (user && user.wxOpenid !== "") digests.push(erasureDigest.ofOpenId({ appId, openId: user.wxOpenid }));
  for (const digest of digests)
    await noteErasure(tx, { appId, digest, journalId, position: entry.from, erasedAtMs: atMs });
  await markLakeOfUser(tx, key, atMs);
  await eraseCold(tx, cold, { user, atMs });
  await tellGone(tx, key);
  const orders = await eraseUser(tx, key, atMs);
  if (user) await uncountUser(tx, user, orders);
  const unique = new Map(slices.map((slice) => [`${slice.cohort} ${slice.day}`, slice]));
  await markSlices(tx, [...unique.values()], atMs);
}
