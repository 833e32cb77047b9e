import type pg from "pg";
import { loadDaysOfUsers, markSlices } from "../../db/dirty-day.ts";
import { eraseUser, loadAcceptedDays, noteErasure } from "../../db/erased-user.ts";
import { loadUsers } from "../../db/user-account.ts";
import type { Slice } from "../../domain/cube.ts";
import type { ErasureEntry } from "../entry/decode.ts";
import type { ErasureContext } from "../facts/erasures.ts";

/**
 * Takes a user out of the tables, and marks every slice of the cube in which the user was counted. The ledger stays: it
 * says what became of events when they came, and names nobody.
 *
 * The entry stands in the journal behind everything that it erases, so that a replay ends without the user too. What
 * comes by another way (see BatchUsers.isErased) is kept out by the note that is made here.
 */
export async function applyErasure(
  tx: pg.PoolClient,
  entry: ErasureEntry,
  { journalId = "", erasureDigest }: ErasureContext,
): Promise<void> {
  const key = entry.user;
  const { appId } = key;
  const atMs = entry.head.at;
  const [user] = await loadUsers(tx, [key]);
  const slices: Slice[] = (await loadDaysOfUsers(tx, [key])).map(({ day }) => ({ appId, placement: "occurred", day }));
  for (const day of await loadAcceptedDays(tx, key)) slices.push({ appId, placement: "occurred", day });
  if (user) {
    slices.push({ appId, placement: "touch", day: user.placeDay });
    slices.push({ appId, placement: "registered", day: user.registeredDay });
  }
  await eraseUser(tx, key);
  const digest = erasureDigest.of(key);
  await noteErasure(tx, { appId, digest, journalId, position: entry.from, erasedAtMs: atMs });
  const unique = new Map(slices.map((slice) => [`${slice.placement} ${slice.day}`, slice]));
  await markSlices(tx, [...unique.values()], atMs);
}
