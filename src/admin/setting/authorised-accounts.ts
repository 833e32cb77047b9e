import type { Static } from "typebox";
import type { AccountList } from "../../contract/setting/account.ts";
import { authoriseChooseBody } from "../../contract/setting/authorisation.ts";
import { type Authorisation, dropAuthorisation, lockReturned } from "../../db/authorisation.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadAccount, loadAccounts, type PlatformAccount, storeAccount } from "../../db/platform-account.ts";
import { calendarOf } from "../../domain/calendar.ts";
import { LIMITS } from "../../limits.ts";
import { withValues } from "../../outbound/account-token.ts";
import { shownAccount } from "../../outbound/account-view.ts";
import { accountFieldsOf, movedAddresses } from "../../platform/account.ts";
import { CODED } from "../../platform/connectors.ts";
import { knownAppRules } from "../apps.ts";
import { act } from "../desk.ts";
import { newAccount, requireSecretsAgain } from "./accounts.ts";
import { type AuthorisationSecrets, type AuthorisingDesk, bad, gone, sessionOf } from "./authorisations.ts";

type ChooseBody = Static<typeof authoriseChooseBody>;

/** Creates the chosen accounts of an authorisation, or gives existing ones its tokens. Ends the authorisation's way. */
export async function chooseAuthorised(desk: AuthorisingDesk, body: ChooseBody): Promise<AccountList> {
  const { accounts } = await choose(desk, body);
  return { accounts };
}

type Chosen = AccountList & { appId: number; adPlatform: string };

function choose(desk: AuthorisingDesk, body: ChooseBody): Promise<Chosen> {
  const { vault, clock } = desk;
  return act(desk, {
    action: "accounts/authorise/choose",
    schema: authoriseChooseBody,
    body,
    appOf: ({ appId }) => appId,
    noted: ({ adPlatform }) => ({ ...body, ad_platform: adPlatform }),
    run: async (tx) => {
      const { authorisation_id: authorisationId } = body;
      const wish = { authorisationId, session: sessionOf(desk), nowMs: clock() };
      const found = await lockReturned<AuthorisationSecrets>(tx, vault, wish);
      if (!found?.secrets.granted || !desk.maySet(found.appId)) throw gone();
      const { appId, timeZone } = await knownAppRules(tx, found.appId);
      // Sorted, because everybody locks accounts in this order.
      const chosen = [...new Set(body.advertiser_ids)].sort();
      await assertRoom(tx, desk, { ...found, chosen });
      const accounts: PlatformAccount[] = [];
      for (const advertiserId of chosen) accounts.push(await connected(tx, desk, { found, advertiserId, body }));
      await dropAuthorisation(tx, authorisationId);
      const shown = accounts.map((one) => shownAccount(one, { calendar: calendarOf(timeZone), nowMs: clock() }));
      return { appId, adPlatform: found.adPlatform, accounts: shown };
    },
  });
}

async function assertRoom(
  tx: Executor,
  { vault }: AuthorisingDesk,
  { appId, adPlatform, chosen }: { appId: number; adPlatform: string; chosen: readonly string[] },
): Promise<void> {
  const before = await loadAccounts(tx, vault, appId);
  const known = before.filter((one) => one.adPlatform === adPlatform && chosen.includes(one.advertiserId));
  if (before.length + chosen.length - known.length > LIMITS.accountsPerApp)
    throw bad(`An app can have at most ${LIMITS.accountsPerApp} accounts; choose fewer, or remove some first.`);
}

type Wish = { found: Authorisation<AuthorisationSecrets>; advertiserId: string; body: ChooseBody };

async function connected(
  tx: Executor,
  { vault, clock }: AuthorisingDesk,
  { found, advertiserId, body }: Wish,
): Promise<PlatformAccount> {
  const { appId, adPlatform, authorisationId, secrets } = found;
  const granted = secrets.granted!;
  const seen = granted.accounts.find((account) => account.advertiserId === advertiserId);
  if (!seen) throw bad(`The authorisation does not list the account ${JSON.stringify(advertiserId)}.`);
  const key = { appId, adPlatform, advertiserId };
  const known = await loadAccount(tx, vault, key, "lock");
  const values = { ...secrets.values, ...granted.values, ...seen.values };
  if (known) {
    assertSameAddresses(known, secrets.settings);
    requireSecretsAgain(known, { values });
  }
  // Conversions are reported only when somebody decides so: an account connected for its costs does not begin to.
  const account = known ?? { ...newAccount(key, CODED), postbacks: false, costs: true };
  const connected = {
    ...withValues(account, accountFieldsOf(adPlatform), values),
    costs: body.costs === undefined ? account.costs : body.costs === "on",
    tokenExpiresAtMs: granted.tokenExpiresAtMs,
    refreshExpiresAtMs: granted.refreshExpiresAtMs,
    authorisationId,
    lastError: "",
    lastErrorAtMs: null,
  };
  await storeAccount(tx, vault, connected, clock());
  return connected;
}

/** New tokens go to the addresses that the authorisation began with, never to others that an account was given since. */
function assertSameAddresses({ adPlatform, advertiserId, settings }: PlatformAccount, begunWith: Settings): void {
  const moved = movedAddresses(adPlatform, { before: begunWith, after: settings });
  if (moved.length === 0) return;
  throw bad(`The account ${advertiserId} has addresses of its own (${moved.join(", ")}): remove them first.`);
}

type Settings = Readonly<Record<string, string>>;
