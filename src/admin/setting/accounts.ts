import type { Static } from "typebox";
import { accountRemoveBody, accountSetBody } from "../../contract/setting/account.ts";
import { lockConnectors } from "../../db/declared-connector.ts";
import type { Executor } from "../../db/engine/sql.ts";
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
import { loadConnectors } from "../../outbound/connectors.ts";
import {
  type AccountChange,
  accountFieldsOf,
  movedAddresses,
  readAccount,
  readAccountPlatform,
  readAdvertiserId,
} from "../../platform/account.ts";
import { CODED, type Connectors } from "../../platform/connectors.ts";
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
      const connectors = await connectorsFor(tx, body);
      const key = keyOf(body, connectors);
      const rate = body.rate === undefined ? undefined : String(body.rate);
      const { mayCallPrivate } = desk;
      const change = readAccount(key.adPlatform, { ...body, rate }, { mayCallPrivate, connectors });
      const known = await loadAccount(tx, vault, key, "lock");
      if (!known && (await loadAccounts(tx, vault, appId)).length >= LIMITS.accountsPerApp)
        throw bad(`An app can have at most ${LIMITS.accountsPerApp} accounts; remove one first.`);
      if (known) requireSecretsAgain(known, change);
      const account = changed(known ?? newAccount(key, connectors), change, connectors);
      if (account.costs && account.advertiserId === "")
        throw bad("Costs are pulled per advertiser: advertiser_id is missing.");
      await storeAccount(tx, vault, account, clock());
      return shownAccount(account, { calendar: calendarOf(timeZone), nowMs: clock() });
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
      const key = keyOf(body, await loadConnectors(tx, body.app_id));
      const isRemoved = await removeAccount(tx, key);
      const givenUp = await giveUpLane(tx, laneOf(key), { reason: REMOVED, nowMs: desk.clock() });
      // A batch applied at the same time may have left something in the lane of an account that is already gone.
      if (!isRemoved && givenUp === 0) throw bad(`App ${key.appId} has no such account at ${key.adPlatform}.`);
      return { given_up: givenUp };
    },
  });
}

function keyOf({ app_id: appId, ad_platform, advertiser_id = "" }: RemoveBody, connectors: Connectors): AccountKey {
  const adPlatform = readAccountPlatform(ad_platform, connectors);
  return { appId, adPlatform, advertiserId: readAdvertiserId(advertiser_id) };
}

/** An account must not outlive the connector that its app has declared, so the two change one after the other. */
async function connectorsFor(tx: Executor, { app_id: appId, ad_platform }: SetBody): Promise<Connectors> {
  if (!CODED.accountPlatforms.includes(ad_platform)) await lockConnectors(tx, appId);
  return loadConnectors(tx, appId);
}

/** A new account sends postbacks; if the platform takes none, it pulls costs. */
export function newAccount(key: AccountKey, connectors: Connectors): PlatformAccount {
  const takesPostbacks = connectors.postbackOf(key.adPlatform) !== undefined;
  return {
    ...key,
    postbacks: takesPostbacks,
    costs: !takesPostbacks,
    ratePerS: 0,
    settings: {},
    secrets: {},
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
}

/** Prevents a person who may change an account from having its hidden secrets sent to a server of their own. */
export function requireSecretsAgain(
  { adPlatform, settings, secrets }: PlatformAccount,
  { values }: Pick<AccountChange, "values">,
): void {
  const moved = movedAddresses(adPlatform, { before: settings, after: values });
  const kept = Object.keys(secrets).filter((name) => values[name] === undefined);
  if (moved.length === 0 || kept.length === 0) return;
  const which = kept.sort().join(", ");
  throw bad(`${moved.join(", ")}: a new address needs the secrets again, or empty texts to remove them: ${which}.`);
}

function changed(account: PlatformAccount, change: AccountChange, connectors: Connectors): PlatformAccount {
  const { values, postbacks = account.postbacks, costs = account.costs, ratePerS = account.ratePerS } = change;
  const hasNewToken = values.access_token !== undefined || values.refresh_token !== undefined;
  return {
    ...withValues(account, accountFieldsOf(account.adPlatform, connectors), values),
    postbacks,
    costs,
    ratePerS,
    // The last error happened with other settings.
    lastError: "",
    lastErrorAtMs: null,
    // Tokens that were typed are this account's own.
    ...(hasNewToken && { tokenExpiresAtMs: null, refreshExpiresAtMs: null, authorisationId: null }),
  };
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
