import type { Static } from "typebox";
import {
  type ConnectorCheck,
  connectorCheckBody,
  connectorRemoveBody,
  connectorSetBody,
  type ShownConnector,
} from "../../contract/setting/connector.ts";
import { messageOfInvalid } from "../../contract/validation.ts";
import {
  loadDeclarations,
  lockConnectors,
  removeDeclaration,
  type StoredDeclaration,
  storeDeclaration,
} from "../../db/declared-connector.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadAccounts, type PlatformAccount } from "../../db/platform-account.ts";
import { type Calendar, calendarOf } from "../../domain/calendar.ts";
import type { JsonObject } from "../../domain/json.ts";
import { readClientId } from "../../domain/user/identity.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { readDeclaredPlatform } from "../../platform/connectors.ts";
import { readAddress, targetsOf } from "../../platform/declared/address.ts";
import { declaredConnector } from "../../platform/declared/connector.ts";
import { type Declaration, readDeclaration } from "../../platform/declared/declaration.ts";
import { type ExampleCall, exampleCalls } from "../../platform/declared/example.ts";
import { loadExamples } from "../../postback/test-postback.ts";
import type { Vault } from "../../vault.ts";
import { assertApps, knownAppRules } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type SetBody = Static<typeof connectorSetBody>;
type CheckBody = Static<typeof connectorCheckBody>;

export async function listConnectors(
  executor: Executor,
  vault: Vault,
  app: { appId: number; timeZone: string },
): Promise<ShownConnector[]> {
  const accounts = await loadAccounts(executor, vault, app.appId);
  const stored = await loadDeclarations(executor, app.appId);
  return stored.map((one) => shownConnector(one, accountsAt(accounts, one), calendarOf(app.timeZone)));
}

/** Checks a declaration, and shows the calls that it would make, of a user if one is named. Nothing is stored or sent. */
export async function checkConnector(
  { pool, clock, mayCallPrivate }: Pick<Desk, "pool" | "clock"> & { mayCallPrivate: boolean },
  body: CheckBody,
): Promise<ConnectorCheck> {
  const invalid = messageOfInvalid(connectorCheckBody, body);
  if (invalid !== undefined) throw bad(invalid);
  await assertApps(pool, [body.app_id]);
  const ad_platform = readDeclaredPlatform(body.ad_platform);
  const declaration = readDeclaration(body.declaration, { mayCallPrivate });
  const { read, tellsMoney } = declaredConnector(declaration);
  const nowMs = clock();
  const possible = possibleCalls(declaration, nowMs);
  const verdict = body.answer ? read(body.answer, possible[0]!.request) : null;
  const calls =
    body.client_id === undefined ? possible : await callsOf(pool, declaration, { ...body, ad_platform, nowMs });
  return {
    ad_platform,
    calls: calls.map(shownCall),
    tells_money: tellsMoney !== "no",
    verdict: verdict && { kind: verdict.kind, reason: verdict.kind === "accepted" ? "" : verdict.reason },
  };
}

/** The calls about a user. */
async function callsOf(
  executor: Executor,
  declaration: Declaration,
  { app_id: appId, ad_platform: adPlatform, client_id, nowMs }: CheckBody & { nowMs: number },
): Promise<ExampleCall[]> {
  const clientId = readClientId(client_id);
  const examples = await loadExamples(executor, { appId, adPlatform, advertiserId: "" }, { clientId, nowMs });
  return exampleCalls(declaration, nowMs, examples);
}

function shownCall({ eventType, code, ...call }: ExampleCall): ConnectorCheck["calls"][number] {
  const known = { event_type: eventType, code };
  if (call.kind === "skip") return { ...known, request: null, reason: call.reason };
  const { method, url, headers, body = "" } = call.request;
  return { ...known, request: { method, url, headers: { ...headers }, body }, reason: "" };
}

/** Declares a platform's postbacks, or replaces the declaration. */
export function setConnector(desk: Desk & { mayCallPrivate: boolean }, body: SetBody): Promise<ShownConnector> {
  const { vault, clock, mayCallPrivate } = desk;
  return act(desk, {
    action: "connectors/set",
    schema: connectorSetBody,
    body,
    run: async (tx) => {
      const { appId, timeZone } = await knownAppRules(tx, body.app_id);
      const adPlatform = readDeclaredPlatform(body.ad_platform);
      const declaration = readDeclaration(body.declaration, { mayCallPrivate });
      possibleCalls(declaration, clock());
      await lockConnectors(tx, appId);
      const known = await loadDeclarations(tx, appId);
      const before = known.find((one) => one.adPlatform === adPlatform);
      if (!before && known.length >= LIMITS.connectorsPerApp)
        throw bad(`An app can have at most ${LIMITS.connectorsPerApp} connectors; remove one first.`);
      const accounts = accountsAt(await loadAccounts(tx, vault, appId), { adPlatform });
      assertFields(declaration, accounts);
      if (before) assertSecretsStay(before.declaration, declaration, accounts);
      const stored = { appId, adPlatform, declaration: body.declaration, changedAtMs: clock() };
      await storeDeclaration(tx, stored);
      return shownConnector(stored, accounts, calendarOf(timeZone));
    },
  });
}

export function dropConnector(desk: Desk, body: Static<typeof connectorRemoveBody>): Promise<Record<string, never>> {
  return act(desk, {
    action: "connectors/remove",
    schema: connectorRemoveBody,
    body,
    run: async (tx) => {
      const { app_id: appId } = body;
      await assertApps(tx, [appId]);
      const adPlatform = readDeclaredPlatform(body.ad_platform);
      await lockConnectors(tx, appId);
      const accounts = accountsAt(await loadAccounts(tx, desk.vault, appId), { adPlatform });
      if (accounts.length > 0)
        throw bad(`There are still accounts at ${adPlatform}: remove them before their connector.`);
      if (!(await removeDeclaration(tx, { appId, adPlatform })))
        throw bad(`App ${appId} has no connector for ${adPlatform}.`);
      return {};
    },
  });
}

/** The examples; refuses a declaration by which some event type could never be sent. */
function possibleCalls(declaration: Declaration, nowMs: number) {
  return exampleCalls(declaration, nowMs).map((call) => {
    if (call.kind === "skip")
      throw bad(
        `codes.${call.eventType} could not be sent: ${call.reason} A placeholder such as {amount_fen?} leaves its field out when there is no value.`,
      );
    return call;
  });
}

/** Values that accounts hold must keep their field: a secret stays a secret. */
function assertFields(declaration: Declaration, accounts: readonly PlatformAccount[]): void {
  const isOf = (name: string, kind: "setting" | "secret") => declaration.account.get(name) === kind;
  for (const { settings, secrets } of accounts) {
    const common = ["codes", "repeats"];
    const setting = Object.keys(settings).find((name) => !common.includes(name) && !isOf(name, "setting"));
    const secret = Object.keys(secrets).find((name) => !isOf(name, "secret"));
    const name = setting ?? secret;
    if (name === undefined) continue;
    const kind = setting === undefined ? "secret" : "setting";
    throw bad(`account: an account holds the ${kind} ${name}; keep the field, or remove its value there first.`);
  }
}

/** Prevents a person who may change a declaration from having hidden secrets sent to a server of their own. */
function assertSecretsStay(before: JsonObject, after: Declaration, accounts: readonly PlatformAccount[]): void {
  const holder = accounts.find(({ secrets }) => Object.keys(secrets).length > 0);
  if (!holder) return;
  const known = new Set(targetsOf(readAddress(before, { mayCallPrivate: true })));
  const moved = targetsOf(after.address).find((target) => !known.has(target));
  if (moved === undefined) return;
  const names = Object.keys(holder.secrets).sort().join(", ");
  throw bad(`${moved} is a new address: accounts hold secrets for another one. Remove them there first: ${names}.`);
}

function accountsAt(
  accounts: readonly PlatformAccount[],
  { adPlatform }: { adPlatform: string },
): readonly PlatformAccount[] {
  return accounts.filter((account) => account.adPlatform === adPlatform);
}

function shownConnector(
  { adPlatform, declaration, changedAtMs }: StoredDeclaration,
  accounts: readonly PlatformAccount[],
  calendar: Calendar,
): ShownConnector {
  return {
    ad_platform: adPlatform,
    declaration,
    accounts: accounts.length,
    changed_at: calendar.textOf(changedAtMs),
  };
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
