import type { FastifyInstance } from "fastify";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { envelopeSchema, success } from "../../../contract/envelope.ts";
import {
  type AppCreateBody,
  type AppEditBody,
  type AppKeys,
  type AppRotateBody,
  type AppsAnswer,
  appBody,
  appCreateBody,
  appEditBody,
  appKeys,
  appRotateBody,
  appsAnswer,
  type Checklist,
  checklist,
  type RotatedSecret,
  rotatedSecret,
  type ShownApp,
  shownApp,
} from "../../../contract/setting/app.ts";
import {
  type AppChange,
  changeApp,
  createApp,
  isTimeZoneFixed,
  loadApps,
  rotateSecret,
  TIME_ZONE_FIXED,
  withoutKeys,
} from "../../../db/app.ts";
import { inTransaction } from "../../../db/engine/pool.ts";
import { isTimeZone } from "../../../domain/calendar.ts";
import { CURRENCY, isRate } from "../../../domain/money.ts";
import { ApiError } from "../../../errors.ts";
import { firstTimes } from "../../../report/checklist.ts";
import type { SettingContext } from "./setting-context.ts";

const BASE = "/admin/api/v1/apps";

/** Apps, what they prove themselves by, and how far a new one has come. */
export function appRoutes(routes: FastifyInstance, context: SettingContext): void {
  listRoutes(routes, context);
  changeRoutes(routes, context);
  secretRoutes(routes, context);
}

function listRoutes(
  routes: FastifyInstance,
  { pool, vault, apps }: Pick<SettingContext, "pool" | "vault" | "apps">,
): void {
  routes.get(BASE, {
    schema: {
      summary: "Apps",
      description: "With their access tokens, which every client holds; the other secrets are shown by `apps/keys`.",
      ...{ tags: ["admin"], response: { 200: envelopeSchema(appsAnswer) } },
    },
    handler: async () => success({ apps: (await loadApps(pool, vault)).map(withoutKeys) } satisfies AppsAnswer),
  });

  routes.get(`${BASE}/checklist`, {
    schema: {
      summary: "How far a new app has come: what it has, and since when",
      ...{ tags: ["admin"], querystring: appIdQuery, response: { 200: envelopeSchema(checklist) } },
    },
    handler: async (request) => {
      const { appId } = await apps.findById(Number((request.query as { app_id: string }).app_id));
      const times = Object.entries(await firstTimes(pool, appId));
      const steps = times.map(([step, atMs]) => [step, { done: atMs !== null, at_ms: atMs }]);
      return success(Object.fromEntries(steps) as Checklist);
    },
  });
}

function changeRoutes(
  routes: FastifyInstance,
  { pool, vault, apps, clock }: Pick<SettingContext, "pool" | "vault" | "apps" | "clock">,
): void {
  routes.post(`${BASE}/create`, {
    schema: {
      summary: "Make an app",
      ...{ tags: ["admin"], body: appCreateBody, response: { 200: envelopeSchema(shownApp) } },
    },
    handler: async (request) => {
      const { name, time_zone = "Asia/Shanghai", currency, metadata = "open" } = request.body as AppCreateBody;
      assertName(name);
      assertTimeZone(time_zone);
      const asked = { name, timeZone: time_zone, currency, metadataMode: metadata, createdAtMs: clock() };
      const made = await inTransaction(pool, (tx) => createApp(tx, vault, asked));
      await apps.reload();
      return success(withoutKeys(made) satisfies ShownApp);
    },
  });

  routes.post(`${BASE}/edit`, {
    schema: {
      summary: "Change an app",
      description: "What is absent stays as it is. The time zone can change only while the app has no users.",
      ...{ tags: ["admin"], body: appEditBody, response: { 200: envelopeSchema(shownApp) } },
    },
    handler: async (request) => {
      const body = request.body as AppEditBody;
      const app = await apps.findById(body.app_id);
      const change = changeOf(body);
      if (await isTimeZoneFixed(pool, app, change.timeZone)) throw new ApiError("badParameter", TIME_ZONE_FIXED);
      await changeApp(pool, app.appId, change);
      await apps.reload();
      return success(withoutKeys(await apps.findById(app.appId)) satisfies ShownApp);
    },
  });
}

function secretRoutes(
  routes: FastifyInstance,
  { pool, vault, apps }: Pick<SettingContext, "pool" | "vault" | "apps">,
): void {
  routes.post(`${BASE}/keys`, {
    schema: {
      summary: "The secrets of an app",
      description: "For admins only. A POST, because who looked is noted in the audit log.",
      ...{ tags: ["admin"], body: appBody, response: { 200: envelopeSchema(appKeys) } },
    },
    handler: async (request) => {
      const { appId, appKey, aesKey } = await apps.findById((request.body as { app_id: number }).app_id);
      return success({ app_id: appId, app_key: appKey, aes_key: aesKey } satisfies AppKeys);
    },
  });

  routes.post(`${BASE}/rotate`, {
    schema: {
      summary: "Replace a secret of an app by a new one",
      description: "The old one stops working at once.",
      ...{ tags: ["admin"], body: appRotateBody, response: { 200: envelopeSchema(rotatedSecret) } },
    },
    handler: async (request) => {
      const { app_id, which } = request.body as AppRotateBody;
      const { appId } = await apps.findById(app_id);
      const value = await rotateSecret(pool, vault, { appId, which });
      if (value === undefined) throw new ApiError("badToken", "app_id is not known.");
      await apps.reload();
      return success({ app_id: appId, which, value } satisfies RotatedSecret);
    },
  });
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
  };
}

function assertName(name: string): void {
  if (name.trim() === "") throw new ApiError("badParameter", "name is empty.");
}

function assertTimeZone(zone: string): void {
  if (!isTimeZone(zone)) throw new ApiError("badParameter", "time_zone must be a time zone such as Asia/Shanghai.");
}

function assertRates(rates: Readonly<Record<string, string>>): void {
  const bad = Object.entries(rates).find(([code, rate]) => !CURRENCY.test(code) || (rate !== "" && !isRate(rate)));
  if (bad) throw new ApiError("badParameter", `rates: ${JSON.stringify(bad[0])} must look like {"USD": "7.12"}.`);
}

/** In ten-thousandths. */
function shareBpOf(share: number): number {
  const bp = Math.round(share * 10_000);
  if (Math.abs(bp - share * 10_000) > 1e-6)
    throw new ApiError("badParameter", "pay_share must have at most 4 decimals.");
  return bp;
}
