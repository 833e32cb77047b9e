import type { FastifyInstance } from "fastify";
import { type AppsAnswer, appsEnvelope } from "../contract/app.ts";
import { success } from "../contract/envelope.ts";
import { type App, loadApps } from "../db/app.ts";
import type { HttpContext } from "./context.ts";

const BASE = "/admin/api/v1/apps";

/** The apps whose data is collected here. */
export function appRoutes(routes: FastifyInstance, { pool, vault }: HttpContext): void {
  routes.get(BASE, {
    schema: { summary: "Apps, without their secrets", tags: ["admin"], response: { 200: appsEnvelope } },
    handler: async () => {
      const apps = await loadApps(pool, vault);
      return success({ apps: apps.map(shownApp) } satisfies AppsAnswer);
    },
  });
}

function shownApp(app: App): AppsAnswer["apps"][number] {
  return {
    app_id: app.appId,
    name: app.name,
    enabled: app.enabled,
    time_zone: app.timeZone,
    currency: app.currency,
    access_token: app.accessToken,
    created_at_ms: app.createdAtMs,
  };
}
