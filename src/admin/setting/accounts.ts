import type { Static } from "typebox";
import { accountRemoveBody, accountSetBody } from "../../contract/setting/account.ts";
import {
  type AccountKey,
  loadAccount,
  loadAccounts,
  type PlatformAccount,
  removeAccount,
  storeAccount,
} from "../../db/platform-account.ts";
import { giveUpLane } from "../../db/postback-outcome.ts";
import { calendarOf } from "../../domain/calendar.ts";
import { laneOf } from "../../domain/postback/postback-book.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { withValues } from "../../outbound/account-token.ts";
import { type ShownAccount, shownAccount } from "../../outbound/account-view.ts";
import {
  type AccountChange,
  accountFieldsOf,
  movedAddresses,
  readAccount,
  readAccountPlatform,
  readAdvertiserId,
} from "../../platform/account.ts";
import { POSTBACK_PLATFORMS } from "../../platform/registry.ts";
import { assertApps, knownAppRules } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type SetBody = Static<typeof accountSetBody>;
type RemoveBody = Static<typeof accountRemoveBody>;

/** Creates an account at an ad platform, or changes the given fields of an existing one. */
export function setAccount(desk: Desk & { mayCallPrivate: boolean }, body: SetBody): Promise<ShownAccount> {
  const { vault, clock } = desk;
  return act(desk, {
    action: "accounts/set",
    schema: accountSetBody,
    body,
    run: async (tx) => {
      const { appId, timeZone } = await knownAppRules(tx, body.app_id);
      const key = keyOf(body);
      const rate = body.rate === undefined ? undefined : String(body.rate);
      const change = readAccount(key.adPlatform, { ...body, rate }, desk);
      const known = await loadAccount(tx, vault, key, "lock");
      if (!known && (await loadAccounts(tx, vault, appId)).length >= LIMITS.accountsPerApp)
        throw bad(`An app can have at most ${LIMITS.accountsPerApp} accounts; remove one first.`);
      if (known) requireSecretsAgain(known, change);
      const account = changed(known ?? newAccount(key), change);
      if (account.costs && account.advertiserId === "")
        throw bad("Costs are pulled per advertiser: advertiser_id is missing.");
      await storeAccount(tx, vault, account, clock());
      return shownAccount(account, calendarOf(timeZone));
    },
  });
}

const REMOVED = "The account was removed.";

/** Removes an account and marks its waiting postbacks as failed; returns their number. */
export function dropAccount(desk: Desk, body: RemoveBody): Promise<{ given_up: number }> {
  return act(desk, {
    action: "accounts/remove",
    schema: accountRemoveBody,
    body,
    run: async (tx) => {
      await assertApps(tx, [body.app_id]);
      const key = keyOf(body);
      const isRemoved = await removeAccount(tx, key);
      const givenUp = await giveUpLane(tx, laneOf(key), { reason: REMOVED, nowMs: desk.clock() });
      // A batch applied at the same time may have left something in the lane of an account that is already gone.
      if (!isRemoved && givenUp === 0) throw bad(`App ${key.appId} has no such account at ${key.adPlatform}.`);
      return { given_up: givenUp };
    },
  });
}

function keyOf({ app_id: appId, ad_platform, advertiser_id = "" }: RemoveBody): AccountKey {
  return { appId, adPlatform: readAccountPlatform(ad_platform), advertiserId: readAdvertiserId(advertiser_id) };
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

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
