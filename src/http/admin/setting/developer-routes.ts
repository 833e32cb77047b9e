import type { FastifyInstance } from "fastify";
import { createDeveloper, decideDeveloper, editDeveloper, rotateDeveloper } from "../../../admin/setting/developers.ts";
import { envelopeSchema } from "../../../contract/envelope.ts";
import {
  developerBody,
  developerDecision,
  developerDecisionBody,
  developerEditBody,
  developerIdBody,
  developerKey,
  developerList,
  developerState,
  type ShownDeveloper,
  shownDeveloper,
} from "../../../contract/setting/developer.ts";
import { type DeveloperApp, loadDeveloperApps } from "../../../db/developer-app.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** Applications that pull reports: requested, then approved, refused or disabled by an admin. */
export function developerRoutes(routes: FastifyInstance, context: SettingContext): void {
  requestRoutes(routes, context);
  reviewRoutes(routes, context);
}

function requestRoutes(routes: FastifyInstance, { pool, vault, clock }: SettingContext): void {
  adminRoute(routes, {
    path: "developers",
    summary: "Developer applications",
    access: "detail",
    apps: "all",
    answer: envelopeSchema(developerList),
    run: async () => ({ developers: (await loadDeveloperApps(pool, vault)).map(shown) }),
  });

  adminRoute(routes, {
    path: "developers/create",
    summary: "Request a developer application",
    access: "installation",
    apps: "all",
    body: developerBody,
    answer: envelopeSchema(developerState),
    run: async ({ body, by }) => {
      const made = await createDeveloper({ pool, vault, clock, by }, body);
      return { id: made.developerId, state: made.state };
    },
  });

  adminRoute(routes, {
    path: "developers/edit",
    summary: "Change which apps a developer application may read, and how often",
    description: "Absent fields stay as they are.",
    access: "installation",
    apps: "all",
    body: developerEditBody,
    answer: envelopeSchema(shownDeveloper),
    run: async ({ body, by }) => shown(await editDeveloper({ pool, vault, clock, by }, body)),
  });
}

function reviewRoutes(routes: FastifyInstance, { pool, vault, clock }: SettingContext): void {
  adminRoute(routes, {
    path: "developers/decide",
    summary: "Approve, refuse or disable a developer application",
    description: "The answer to an approval holds the `app_key`.",
    access: "installation",
    apps: "all",
    body: developerDecisionBody,
    answer: envelopeSchema(developerDecision),
    run: async ({ body, by }) => {
      const { developerId: id, state, appKey } = await decideDeveloper({ pool, vault, clock, by }, body);
      return { id, state, ...(state === "approved" && { app_key: appKey }) };
    },
  });

  adminRoute(routes, {
    path: "developers/rotate",
    summary: "Give a developer application a new key",
    description: "Reports signed with the old key are refused at once.",
    access: "installation",
    apps: "all",
    body: developerIdBody,
    answer: envelopeSchema(developerKey),
    run: async ({ body, by }) => ({ id: body.id, app_key: await rotateDeveloper({ pool, vault, clock, by }, body) }),
  });
}

function shown(developer: DeveloperApp): ShownDeveloper {
  return {
    id: developer.developerId,
    name: developer.name,
    purpose: developer.purpose,
    state: developer.state,
    reason: developer.reason,
    apps: developer.apps,
    rate_calls: developer.rate.calls,
    rate_window_s: developer.rate.windowS,
    created_at_ms: developer.createdAtMs,
    decided_at_ms: developer.decidedAtMs,
  };
}
