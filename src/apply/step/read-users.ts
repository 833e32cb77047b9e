import type pg from "pg";
import { loadUsers, loadUsersWithin, type UserAccount } from "../../db/user-account.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { LIMITS } from "../../limits.ts";
import type { DecodedEntry } from "../entry/decode.ts";
import { UserMap } from "../entry/user-map.ts";
import type { AppSettings } from "../facts/app-settings.ts";
import { BatchUsers } from "../facts/batch-users.ts";
import { type ErasureContext, Erasures } from "../facts/erasures.ts";
import { OpenDecisions } from "../facts/open-decisions.ts";
import { Concerns } from "../touch/concerns.ts";
import { FreshTouches } from "../touch/fresh-touches.ts";
import type { SortedTouches } from "../touch/touches.ts";

type Read = { entries: readonly DecodedEntry[]; settings: AppSettings; touches: SortedTouches };

/**
 * Reads the users of a batch: those of its entries, and those whom one of its touches may have brought. Undefined when
 * their profiles are too large together and the batch must be applied in parts.
 */
export async function readUsers(
  tx: pg.PoolClient,
  { entries, settings, touches }: Read,
  context: ErasureContext,
): Promise<BatchUsers | undefined> {
  const fresh = new FreshTouches(touches.fresh);
  const windowMs = (appId: number) => Math.max(LIMITS.touchKeptMsMin, settings.of(appId).rules.longestWindowMs);
  const concerns = await Concerns.load(tx, fresh, windowMs);
  const keys = new UserMap<UserKey>();
  for (const entry of entries) if ("user" in entry) keys.set(entry.user, entry.user);
  for (const user of concerns.storedUsers()) keys.set(user, user);
  const stored = await loadStored(tx, keys.values(), entries);
  if (!stored) return undefined;
  for (const user of stored) keys.delete(user);
  const erasures = await Erasures.load(tx, { entries, users: keys.values() }, context);
  return new BatchUsers(stored, { open: new OpenDecisions(fresh, concerns), erasures });
}

/** A single entry is applied however large its profiles are. */
async function loadStored(
  tx: pg.PoolClient,
  keys: readonly UserKey[],
  entries: readonly DecodedEntry[],
): Promise<UserAccount[] | undefined> {
  return entries.length < 2 ? loadUsers(tx, keys) : loadUsersWithin(tx, keys, LIMITS.applyProfileBytes);
}
