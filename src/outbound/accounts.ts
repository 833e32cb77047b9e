import type pg from "pg";
import { inTransaction } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import {
  type AccountKey,
  loadAccount,
  loadAccounts,
  type PlatformAccount,
  removeAccount,
  storeAccount,
} from "../db/platform-account.ts";
import { giveUpLane } from "../db/postback-outcome.ts";
import { type Calendar, calendarOf } from "../domain/calendar.ts";
import { laneOf } from "../domain/postback/postback-book.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import {
  type AccountChange,
  accountFieldsOf,
  type GivenAccount,
  movedAddresses,
  readAccount,
  readAccountPlatform,
  readAdvertiserId,
} from "../platform/account.ts";
import { POSTBACK_PLATFORMS } from "../platform/registry.ts";
import type { Vault } from "../vault.ts";
import { withValues } from "./account-token.ts";

/** An account as shown to people. Of secrets, only the names of those that are set. */
export type ShownAccount = {
  ad_platform: string;
  advertiser_id: string;
  postbacks: "on" | "off";
  costs: "on" | "off";
  rate: number;
  settings: Readonly<Record<string, string>>;
  secrets: string[];
  token_expires_at: string;
  last_error: string;
  last_error_at: string;
};

type Zoned = { appId: number; timeZone: string };

export async function listAccounts(executor: Executor, vault: Vault, app: Zoned): Promise<ShownAccount[]> {
  const accounts = await loadAccounts(executor, vault, app.appId);
  return accounts.map((account) => shownAccount(account, calendarOf(app.timeZone)));
}

/** The fields of the platform's connectors, as shown to people. */
export function listAccountFields(platform: string) {
  return accountFieldsOf(readAccountPlatform(platform)).map(({ name, isSecret, fallback, uses, hint }) => ({
    name,
    secret: isSecret === true,
    fallback,
    for: uses.join(", "),
    hint,
  }));
}

export type GivenAccountKey = { adPlatform: string; advertiserId?: string | undefined };

/** Creates an account, or changes the given fields of an existing one. */
export async function setAccount(
  deps: { pool: pg.Pool; vault: Vault; nowMs: number; mayCallPrivate: boolean },
  app: Zoned,
  given: GivenAccountKey & GivenAccount,
): Promise<ShownAccount> {
  const { pool, vault, nowMs } = deps;
  const key = readKey(app.appId, given);
  const change = readAccount(key.adPlatform, given, deps);
  return inTransaction(pool, async (tx) => {
    const known = await loadAccount(tx, vault, key, "lock");
    if (!known && (await loadAccounts(tx, vault, app.appId)).length >= LIMITS.accountsPerApp) {
      throw bad(`An app can have at most ${LIMITS.accountsPerApp} accounts; remove one first.`);
    }
    if (known) requireSecretsAgain(known, change);
    const account = changed(known ?? newAccount(key), change);
    if (account.costs && account.advertiserId === "") {
      throw bad("Costs are pulled per advertiser: advertiser_id is missing.");
    }
    await storeAccount(tx, vault, account, nowMs);
    return shownAccount(account, calendarOf(app.timeZone));
  });
}

export const REMOVED = "The account was removed.";

/** Removes an account and gives up its waiting postbacks; returns their number. */
export async function dropAccount(
  { pool, nowMs }: { pool: pg.Pool; nowMs: number },
  appId: number,
  given: GivenAccountKey,
): Promise<{ given_up: number }> {
  const key = readKey(appId, given);
  return inTransaction(pool, async (tx) => {
    const isRemoved = await removeAccount(tx, key);
    const givenUp = await giveUpLane(tx, laneOf(key), { reason: REMOVED, nowMs });
    // A batch applied at the same time may have left something in the lane of an account that is already gone.
    if (!isRemoved && givenUp === 0) throw bad(`App ${appId} has no such account at ${key.adPlatform}.`);
    return { given_up: givenUp };
  });
}

function readKey(appId: number, { adPlatform, advertiserId = "" }: GivenAccountKey): AccountKey {
  return { appId, adPlatform: readAccountPlatform(adPlatform), advertiserId: readAdvertiserId(advertiserId) };
}

/** A new account sends postbacks; if the platform takes none, it pulls costs. */
function newAccount(key: AccountKey): PlatformAccount {
  const takesPostbacks = POSTBACK_PLATFORMS.includes(key.adPlatform);
  return {
    ...key,
    postbacks: takesPostbacks,
    costs: !takesPostbacks,
    ratePerS: 0,
    settings: {},
    secrets: {},
    tokenExpiresAtMs: null,
    lastError: "",
    lastErrorAtMs: null,
  };
}

/** Prevents a person who may change an account from having its hidden secrets sent to a server of their own. */
function requireSecretsAgain({ adPlatform, settings, secrets }: PlatformAccount, { values }: AccountChange): void {
  const moved = movedAddresses(adPlatform, { before: settings, after: values });
  const kept = Object.keys(secrets).filter((name) => values[name] === undefined);
  if (moved.length === 0 || kept.length === 0) return;
  const which = kept.sort().join(", ");
  throw bad(`${moved.join(", ")}: a new address needs the secrets again, or empty texts to remove them: ${which}.`);
}

function changed(account: PlatformAccount, change: AccountChange): PlatformAccount {
  const { values, postbacks = account.postbacks, costs = account.costs, ratePerS = account.ratePerS } = change;
  const hasNewToken = values.access_token !== undefined || values.refresh_token !== undefined;
  return {
    ...withValues(account, accountFieldsOf(account.adPlatform), values),
    postbacks,
    costs,
    ratePerS,
    // The last error happened with other settings.
    lastError: "",
    lastErrorAtMs: null,
    ...(hasNewToken && { tokenExpiresAtMs: null }),
  };
}

export function shownAccount(account: PlatformAccount, calendar: Calendar): ShownAccount {
  const textOf = (ms: number | null) => (ms === null ? "" : calendar.textOf(ms));
  return {
    ad_platform: account.adPlatform,
    advertiser_id: account.advertiserId,
    postbacks: account.postbacks ? "on" : "off",
    costs: account.costs ? "on" : "off",
    rate: account.ratePerS,
    settings: account.settings,
    secrets: Object.keys(account.secrets).sort(),
    token_expires_at: textOf(account.tokenExpiresAtMs),
    last_error: account.lastError,
    last_error_at: textOf(account.lastErrorAtMs),
  };
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
