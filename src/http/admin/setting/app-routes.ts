import type { FastifyInstance } from "fastify";
import { createApp, editApp, rotateAppSecret, showKeys } from "../../../admin/apps.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { envelopeSchema } from "../../../contract/envelope.ts";
import {
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
import { type App, loadApps, withoutKeys } from "../../../db/app.ts";
import { type Grants, mayIn } from "../../../domain/access/role.ts";
import { firstTimes } from "../../../report/checklist.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** Apps, their secrets, and the checklist of a new app. */
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
    description:
      "The caller's, with their access tokens, which every client holds; viewers see none. The other secrets are shown by `apps/keys`.",
    access: "report",
    apps: "some",
    answer: envelopeSchema(appsAnswer),
    run: async ({ request }) => {
      const { grants } = request.actor;
      const seen = (await loadApps(pool, vault)).filter(({ appId }) => mayIn(grants, "report", appId));
      return { apps: seen.map((app) => shownTo(grants, app)) };
    },
  });

  adminRoute(routes, {
    path: "apps/checklist",
    summary: "Checklist of a new app: which steps are done, and since when",
    access: "report",
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

/** Viewers get no access token, with which data can be sent. */
function shownTo(grants: Grants, app: App) {
  const shown = withoutKeys(app);
  return mayIn(grants, "detail", app.appId) ? shown : { ...shown, access_token: "" };
}

function changeRoutes(
  routes: FastifyInstance,
  { pool, vault, apps, clock }: Pick<SettingContext, "pool" | "vault" | "apps" | "clock">,
): void {
  adminRoute(routes, {
    path: "apps/create",
    summary: "Create an app",
    access: "installation",
    apps: "all",
    body: appCreateBody,
    answer: envelopeSchema(shownApp),
    run: async ({ body, by }) => {
      const made = await createApp({ pool, vault, clock, by }, body);
      await apps.reload();
      return withoutKeys(made);
    },
  });

  adminRoute(routes, {
    path: "apps/edit",
    summary: "Change an app",
    description: "Absent fields stay as they are. The time zone can change only while the app has no users.",
    access: "setting",
    body: appEditBody,
    answer: envelopeSchema(shownApp),
    run: async ({ body, by }) => {
      const changed = await editApp({ pool, vault, clock, by }, body);
      await apps.reload();
      return withoutKeys(changed);
    },
  });
}

function secretRoutes(
  routes: FastifyInstance,
  { pool, vault, apps, clock }: Pick<SettingContext, "pool" | "vault" | "apps" | "clock">,
): void {
  adminRoute(routes, {
    path: "apps/keys",
    summary: "The secrets of an app",
    description: "For admins only. A POST, because the audit log notes who looked.",
    access: "setting",
    body: appBody,
    answer: envelopeSchema(appKeys),
    run: async ({ body, by }) => {
      const [app] = await showKeys({ pool, vault, clock, by }, body);
      return { app_id: app!.appId, app_key: app!.appKey, aes_key: app!.aesKey };
    },
  });

  adminRoute(routes, {
    path: "apps/rotate",
    summary: "Replace a secret of an app with a new one",
    description: "The old one stops working at once.",
    access: "setting",
    body: appRotateBody,
    answer: envelopeSchema(rotatedSecret),
    run: async ({ body, by }) => {
      const value = await rotateAppSecret({ pool, vault, clock, by }, body);
      await apps.reload();
      return { app_id: body.app_id, which: body.which, value };
    },
  });
}
