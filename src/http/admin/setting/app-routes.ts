import type { FastifyInstance } from "fastify";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { envelopeSchema } from "../../../contract/envelope.ts";
import {
  type AppEditBody,
  appBody,
  appCreateBody,
  appEditBody,
  appKeys,
  appRotateBody,
  appsAnswer,
  type Checklist,
  checklist,
  rotatedSecret,
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
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

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
  adminRoute(routes, {
    path: "apps",
    summary: "Apps",
    description: "With their access tokens, which every client holds; the other secrets are shown by `apps/keys`.",
    access: "read",
    answer: envelopeSchema(appsAnswer),
    run: async () => ({ apps: (await loadApps(pool, vault)).map(withoutKeys) }),
  });

  adminRoute(routes, {
    path: "apps/checklist",
    summary: "How far a new app has come: what it has, and since when",
    access: "read",
    query: appIdQuery,
    answer: envelopeSchema(checklist),
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      const times = Object.entries(await firstTimes(pool, appId));
      const steps = times.map(([step, atMs]) => [step, { done: atMs !== null, at_ms: atMs }]);
      return Object.fromEntries(steps) as Checklist;
    },
  });
}

function changeRoutes(
  routes: FastifyInstance,
  { pool, vault, apps, clock }: Pick<SettingContext, "pool" | "vault" | "apps" | "clock">,
): void {
  adminRoute(routes, {
    path: "apps/create",
    summary: "Make an app",
    access: "change",
    body: appCreateBody,
    answer: envelopeSchema(shownApp),
    run: async ({ body }) => {
      const { name, time_zone = "Asia/Shanghai", currency, metadata = "open" } = body;
      assertName(name);
      assertTimeZone(time_zone);
      const asked = { name, timeZone: time_zone, currency, metadataMode: metadata, createdAtMs: clock() };
      const made = await inTransaction(pool, (tx) => createApp(tx, vault, asked));
      await apps.reload();
      return withoutKeys(made);
    },
  });

  adminRoute(routes, {
    path: "apps/edit",
    summary: "Change an app",
    description: "What is absent stays as it is. The time zone can change only while the app has no users.",
    access: "change",
    body: appEditBody,
    answer: envelopeSchema(shownApp),
    run: async ({ body }) => {
      const app = await apps.findById(body.app_id);
      const change = changeOf(body);
      if (await isTimeZoneFixed(pool, app, change.timeZone)) throw new ApiError("badParameter", TIME_ZONE_FIXED);
      await changeApp(pool, app.appId, change);
      await apps.reload();
      return withoutKeys(await apps.findById(app.appId));
    },
  });
}

function secretRoutes(
  routes: FastifyInstance,
  { pool, vault, apps }: Pick<SettingContext, "pool" | "vault" | "apps">,
): void {
  adminRoute(routes, {
    path: "apps/keys",
    summary: "The secrets of an app",
    description: "For admins only. A POST, because who looked is noted in the audit log.",
    access: "change",
    body: appBody,
    answer: envelopeSchema(appKeys),
    run: async ({ body }) => {
      const { appId, appKey, aesKey } = await apps.findById(body.app_id);
      return { app_id: appId, app_key: appKey, aes_key: aesKey };
    },
  });

  adminRoute(routes, {
    path: "apps/rotate",
    summary: "Replace a secret of an app by a new one",
    description: "The old one stops working at once.",
    access: "change",
    body: appRotateBody,
    answer: envelopeSchema(rotatedSecret),
    run: async ({ body }) => {
      const { app_id, which } = body;
      const { appId } = await apps.findById(app_id);
      const value = await rotateSecret(pool, vault, { appId, which });
      if (value === undefined) throw new ApiError("badToken", "app_id is not known.");
      await apps.reload();
      return { app_id: appId, which, value };
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
