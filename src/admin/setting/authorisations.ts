import type { Static } from "typebox";
import {
  authoriseBody,
  authoriseReturnBody,
  type BegunAuthorisation,
  type ReturnedAuthorisation,
} from "../../contract/setting/authorisation.ts";
import {
  type Authorisation,
  beginAuthorisation,
  dropAuthorisation,
  dropOldAuthorisations,
  dropSurplusAuthorisations,
  keepSecrets,
  takeState,
} from "../../db/authorisation.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { type AccountKey, loadAccount, loadAccounts, type PlatformAccount } from "../../db/platform-account.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { settingsOfAccount, withValues } from "../../outbound/account-token.ts";
import { exchangeCode, type Granted, returnedCode } from "../../outbound/authorise.ts";
import type { Sender } from "../../outbound/sender.ts";
import {
  accountFieldsOf,
  addressFieldsOf,
  isOwnAddress,
  readAccount,
  readAccountPlatform,
} from "../../platform/account.ts";
import { CODED } from "../../platform/connectors.ts";
import { AUTHORISED_PLATFORMS, authorisationOf } from "../../platform/registry.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";
import { newAccount, requireSecretsAgain } from "./accounts.ts";

/** A desk of somebody who is signed in: only the session that has begun an authorisation can go on with it. */
export type AuthorisingDesk = Desk & { session: string | undefined; maySet: (appId: number) => boolean };

type Values = Readonly<Record<string, string>>;

/** What is sealed with an authorisation: the settings that it began with, the values for its accounts, and the tokens. */
export type AuthorisationSecrets = { settings: Values; values: Values; granted?: Granted };

type BeginDesk = AuthorisingDesk & { mayCallPrivate: boolean; redirectUrl: string };

/** Begins an authorisation; the person goes on at the platform's page. */
export function beginAuthorising(desk: BeginDesk, body: Static<typeof authoriseBody>): Promise<BegunAuthorisation> {
  const { vault, clock, redirectUrl } = desk;
  return act(desk, {
    action: "accounts/authorise",
    schema: authoriseBody,
    body,
    noted: () => ({ ...body, base_url: undefined, redirect_url: redirectUrl }),
    run: async (tx) => {
      const session = sessionOf(desk);
      await assertApps(tx, [body.app_id]);
      const adPlatform = readAccountPlatform(body.ad_platform);
      const flow = flowOf(adPlatform);
      const draft = await draftOf(tx, desk, { ...body, ad_platform: adPlatform });
      const fields = accountFieldsOf(adPlatform);
      const account = settingsOfAccount(draft, fields);
      const { id, secret, scope = "" } = flow.client;
      if (account(id) === "" || account(secret) === "")
        throw bad(`The developer application's ${id} and ${secret} are needed.`);
      await dropOldAuthorisations(tx, clock());
      await dropSurplusAuthorisations(tx, { session, kept: LIMITS.authorisationsOpen - 1 });
      const kept = [...addressFieldsOf(adPlatform, "costs"), id, secret, scope];
      const given = Object.entries({ ...draft.settings, ...draft.secrets }).filter(([name]) => kept.includes(name));
      const secrets: AuthorisationSecrets = { settings: draft.settings, values: Object.fromEntries(given) };
      const begun = { appId: body.app_id, adPlatform, redirectUrl, session, nowMs: clock() };
      const state = await beginAuthorisation(tx, vault, begun, secrets);
      return { url: flow.page({ account, redirectUrl, state }), redirect_url: redirectUrl };
    },
  });
}

/** An account as the body describes it, which may take over the developer application of another one. */
async function draftOf(tx: Executor, desk: BeginDesk, body: Static<typeof authoriseBody>): Promise<PlatformAccount> {
  const { app_id: appId, ad_platform: adPlatform, advertiser_id: advertiserId, settings, secrets } = body;
  const change = readAccount(adPlatform, { settings, secrets }, desk);
  const key: AccountKey = { appId, adPlatform, advertiserId: advertiserId ?? "" };
  const like = advertiserId === undefined ? undefined : await loadAccount(tx, desk.vault, key);
  if (advertiserId !== undefined && !like) throw bad(`App ${appId} has no such account at ${adPlatform}.`);
  if (like) requireSecretsAgain(like, change);
  const draft = withValues(like ?? newAccount(key, CODED), accountFieldsOf(adPlatform), change.values);
  const foreign = addressFieldsOf(adPlatform, "costs").filter((name) => !isOwnAddress(draft, name));
  if (foreign.length > 0)
    throw bad(`${foreign.join(", ")}: people and tokens are sent to the platform's own addresses only.`);
  return draft;
}

type ReturnDesk = AuthorisingDesk & { sender: Sender };

/** Goes on when the platform has sent the person back: uses the state and the code up, and lists the accounts. */
export async function returnAuthorised(
  desk: ReturnDesk,
  body: Static<typeof authoriseReturnBody>,
): Promise<ReturnedAuthorisation> {
  const { pool, vault, clock, sender } = desk;
  // The note is committed before the call to the platform, which is no part of a transaction.
  const taken = await take(desk, body);
  const { authorisationId, adPlatform, redirectUrl, secrets } = taken;
  const flow = flowOf(adPlatform);
  const code = returnedCode(flow, body.returned);
  const fields = accountFieldsOf(adPlatform);
  const outcome =
    code.kind === "code"
      ? await exchangeCode(
          { sender, clock },
          { flow, fields, values: secrets.values, returned: { ...code, redirectUrl } },
        )
      : code;
  if (outcome.kind === "refused") {
    await dropAuthorisation(pool, authorisationId);
    throw bad(`${outcome.reason} Begin again.`);
  }
  const { kind: _, ...granted } = outcome;
  await keepSecrets(pool, vault, { authorisationId, secrets: { ...secrets, granted } });
  return shownReturn(desk, taken, granted);
}

function take(
  desk: AuthorisingDesk,
  body: Static<typeof authoriseReturnBody>,
): Promise<Authorisation<AuthorisationSecrets>> {
  return act(desk, {
    action: "accounts/authorise/return",
    schema: authoriseReturnBody,
    body,
    appOf: ({ appId }) => appId,
    noted: ({ adPlatform, authorisationId }) => ({ ad_platform: adPlatform, authorisation_id: authorisationId }),
    run: async (tx) => {
      const used = { state: body.returned.state ?? "", session: sessionOf(desk), nowMs: desk.clock() };
      const found = await takeState<AuthorisationSecrets>(tx, desk.vault, used);
      if (!found || !desk.maySet(found.appId)) throw gone();
      return found;
    },
  });
}

async function shownReturn(
  { pool, vault }: Desk,
  { authorisationId, appId, adPlatform }: Authorisation<unknown>,
  { accounts, leftOut, trouble }: Granted,
): Promise<ReturnedAuthorisation> {
  const own = (await loadAccounts(pool, vault, appId)).filter((account) => account.adPlatform === adPlatform);
  const known = new Set(own.map(({ advertiserId }) => advertiserId));
  return {
    authorisation_id: authorisationId,
    app_id: appId,
    ad_platform: adPlatform,
    accounts: accounts.map(({ advertiserId, name }) => ({
      advertiser_id: advertiserId,
      name,
      is_known: known.has(advertiserId),
    })),
    left_out: leftOut,
    trouble,
  };
}

function flowOf(platform: string) {
  const flow = authorisationOf(platform);
  if (flow) return flow;
  throw bad(`${platform} has no page for authorisations; these have: ${AUTHORISED_PLATFORMS.join(", ")}.`);
}

export function sessionOf({ session }: AuthorisingDesk): string {
  if (session !== undefined) return session;
  throw new ApiError("notGranted", "An authorisation belongs to the browser that begins it: sign in to the console.");
}

export function gone(): ApiError {
  return bad("This authorisation was begun in another session, was used already, or took too long. Begin again.");
}

export function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
