import { type Static, Type } from "typebox";
import {
  type AppCreateBody,
  type AppEditBody,
  type AppRotateBody,
  appBody,
  appCreateBody,
  appEditBody,
  appRotateBody,
} from "../contract/setting/app.ts";
import {
  type App,
  type AppChange,
  type AppRules,
  changeApp,
  insertApp,
  isTimeZoneFixed,
  loadAppRules,
  loadApps,
  lockApps,
  rotateSecret,
  TIME_ZONE_FIXED,
} from "../db/app.ts";
import { markSlices } from "../db/dirty-day.ts";
import type { Executor } from "../db/engine/sql.ts";
import { loadRefundSlices } from "../db/refund.ts";
import { isTimeZone } from "../domain/calendar.ts";
import { CURRENCY, isRate } from "../domain/money.ts";
import { ApiError } from "../errors.ts";
import type { Vault } from "../vault.ts";
import { act, assertName, type Desk } from "./desk.ts";

/** Creates an app with the default rules. */
export function createApp(desk: Desk, body: AppCreateBody): Promise<App> {
  return act(desk, {
    action: "apps/create",
    schema: appCreateBody,
    body,
    appOf: ({ appId }) => appId,
    run: (tx) => newApp(tx, desk, body),
  });
}

/** The same if there is no app yet; undefined when there is. Of several processes that start together, one creates it. */
export async function createFirstApp(desk: Desk, body: AppCreateBody): Promise<App | undefined> {
  if ((await loadAppRules(desk.pool)).length > 0) return undefined;
  return act(desk, {
    action: "apps/create",
    schema: appCreateBody,
    body,
    appOf: (app) => app?.appId ?? 0,
    isNoted: (app) => app !== undefined,
    run: async (tx) => {
      await lockApps(tx);
      return (await loadAppRules(tx)).length > 0 ? undefined : newApp(tx, desk, body);
    },
  });
}

async function newApp(tx: Executor, { vault, clock }: Desk, body: AppCreateBody): Promise<App> {
  const { name, time_zone: timeZone = "Asia/Shanghai", currency, metadata: metadataMode = "open" } = body;
  assertName(name);
  assertTimeZone(timeZone);
  return insertApp(tx, vault, { name, timeZone, currency, metadataMode, createdAtMs: clock() });
}

/** Changes the fields that the body names; the others stay as they are. */
export function editApp(desk: Desk, body: AppEditBody): Promise<App> {
  return act(desk, {
    action: "apps/edit",
    schema: appEditBody,
    body,
    run: async (tx) => {
      const change = changeOf(body);
      const app = await knownApp(tx, desk.vault, body.app_id);
      if (await isTimeZoneFixed(tx, app, change.timeZone)) throw new ApiError("badParameter", TIME_ZONE_FIXED);
      await changeApp(tx, app.appId, change);
      if (change.refundsOn !== undefined && change.refundsOn !== app.refundsOn) {
        const slices = await loadRefundSlices(tx, app.appId);
        await markSlices(tx, slices, desk.clock());
      }
      return knownApp(tx, desk.vault, app.appId);
    },
  });
}

/** Replaces a secret of an app. Returns the new one; the old one stops working at once. */
export function rotateAppSecret(desk: Desk, body: AppRotateBody): Promise<string> {
  return act(desk, {
    action: "apps/rotate",
    schema: appRotateBody,
    body,
    run: async (tx) => {
      await assertApps(tx, [body.app_id]);
      const secret = await rotateSecret(tx, desk.vault, { appId: body.app_id, which: body.which });
      if (secret === undefined) throw noApp(body.app_id);
      return secret;
    },
  });
}

const keysBody = Type.Object({ app_id: Type.Optional(appBody.properties.app_id) });

/** Shows the secrets of an app, or of all apps. Nothing is shown that is not noted. */
export function showKeys(desk: Desk, body: Static<typeof keysBody>): Promise<App[]> {
  const { vault } = desk;
  return act(desk, {
    action: "apps/keys",
    schema: keysBody,
    body,
    run: async (tx) => (body.app_id === undefined ? loadApps(tx, vault) : [await knownApp(tx, vault, body.app_id)]),
  });
}

/** Refuses ids that no app has, naming the first one. */
export async function assertApps(executor: Executor, appIds: readonly number[]): Promise<void> {
  const apps = await loadAppRules(executor, appIds.filter(Number.isSafeInteger));
  const known = new Set(apps.map(({ appId }) => appId));
  const unknown = appIds.find((appId) => !known.has(appId));
  if (unknown !== undefined) throw noApp(unknown);
}

/** The settings of an app. Refuses an id that no app has. */
export async function knownAppRules(executor: Executor, appId: number): Promise<AppRules> {
  const [app] = Number.isSafeInteger(appId) ? await loadAppRules(executor, [appId]) : [];
  if (!app) throw noApp(appId);
  return app;
}

/** An app with its secrets. Refuses an id that no app has. */
export async function knownApp(executor: Executor, vault: Vault, appId: number): Promise<App> {
  const [app] = Number.isSafeInteger(appId) ? await loadApps(executor, vault, { ids: [appId] }) : [];
  if (!app) throw noApp(appId);
  return app;
}

function noApp(appId: number): ApiError {
  return new ApiError("badToken", `app_id: there is no app ${appId}.`);
}

function changeOf(body: AppEditBody): AppChange {
  if (body.name !== undefined) assertName(body.name);
  if (body.time_zone !== undefined) assertTimeZone(body.time_zone);
  if (body.rates !== undefined) assertRates(body.rates);
  return {
    name: body.name,
    timeZone: body.time_zone,
    currency: body.currency,
    rates: body.rates,
    metadataMode: body.metadata,
    requireRegistration: body.require_registration,
    enabled: body.enabled,
    payShareBp: body.pay_share === undefined ? undefined : shareBpOf(body.pay_share),
    refundsOn: body.refunds_on,
  };
}

function assertTimeZone(zone: string): void {
  if (!isTimeZone(zone)) throw new ApiError("badParameter", "time_zone must be a time zone such as Asia/Shanghai.");
}

function assertRates(rates: Readonly<Record<string, string>>): void {
  const bad = Object.entries(rates).find(([code, rate]) => !CURRENCY.test(code) || (rate !== "" && !isRate(rate)));
  if (bad) throw new ApiError("badParameter", `rates: ${JSON.stringify(bad[0])} must look like {"USD": "7.12"}.`);
}

/** The share in ten-thousandths. */
function shareBpOf(share: number): number {
  const bp = Math.round(share * 10_000);
  if (Math.abs(bp - share * 10_000) > 1e-6)
    throw new ApiError("badParameter", "pay_share must have at most 4 decimals.");
  return bp;
}
