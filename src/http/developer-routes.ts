import type { FastifyInstance } from "fastify";
import { adminAnswer } from "../contract/admin.ts";
import { developerBody, developerDecisionBody } from "../contract/developer.ts";
import { success } from "../contract/envelope.ts";
import {
  createDeveloperApp,
  DEFAULT_RATE,
  type DeveloperApp,
  type DeveloperState,
  decideDeveloperApp,
  loadDeveloperApp,
  loadDeveloperApps,
  shownDeveloper,
} from "../db/developer-app.ts";
import { ApiError } from "../errors.ts";
import type { HttpContext } from "./context.ts";

const BASE = "/admin/api/v1/developers";

/** Applications that pull reports: requested, then approved, refused or disabled by an admin. */
export function developerRoutes(routes: FastifyInstance, context: HttpContext): void {
  const { pool, vault, apps, clock } = context;

  routes.get(BASE, {
    schema: { summary: "Developer applications", tags: ["admin"], response: { 200: adminAnswer } },
    handler: async () => success({ developers: (await loadDeveloperApps(pool, vault)).map(shownDeveloper) }),
  });

  routes.post(`${BASE}/create`, {
    schema: {
      summary: "Request a developer application",
      ...{ tags: ["admin"], body: developerBody, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const body = request.body as { name: string; purpose?: string; apps: "all" | number[] } & Rate;
      if (body.apps !== "all") for (const appId of body.apps) await apps.findById(appId);
      const rate = {
        calls: body.rate_calls ?? DEFAULT_RATE.calls,
        windowS: body.rate_window_s ?? DEFAULT_RATE.windowS,
      };
      const { name, purpose = "" } = body;
      const made = await createDeveloperApp(pool, vault, {
        name,
        purpose,
        apps: body.apps,
        rate,
        createdAtMs: clock(),
      });
      return success({ id: made.developerId, state: made.state });
    },
  });

  routes.post(`${BASE}/decide`, {
    schema: {
      summary: "Approve, refuse or disable a developer application",
      description: "The answer to an approval holds the `app_key`.",
      ...{ tags: ["admin"], body: developerDecisionBody, response: { 200: adminAnswer } },
    },
    handler: async (request) => {
      const { id, state, reason = "" } = request.body as { id: number; state: DeveloperState; reason?: string };
      const { appKey } = await find(context, id);
      await decideDeveloperApp(pool, { developerId: id, state, reason, decidedAtMs: clock() });
      return success({ id, state, ...(state === "approved" && { app_key: appKey }) });
    },
  });
}

type Rate = { rate_calls?: number; rate_window_s?: number };

async function find({ pool, vault }: HttpContext, id: number): Promise<DeveloperApp> {
  const known = await loadDeveloperApp(pool, vault, id);
  if (!known) throw new ApiError("badParameter", "There is no developer application of this id.");
  return known;
}
