import type { FastifyInstance } from "fastify";
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
import {
  changeDeveloperApp,
  createDeveloperApp,
  DEFAULT_RATE,
  type DeveloperApp,
  decideDeveloperApp,
  loadDeveloperApp,
  loadDeveloperApps,
  type RateLevel,
  rotateDeveloperKey,
} from "../../../db/developer-app.ts";
import { ApiError } from "../../../errors.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** Applications that pull reports: requested, then approved, refused or disabled by an admin. */
export function developerRoutes(routes: FastifyInstance, context: SettingContext): void {
  requestRoutes(routes, context);
  reviewRoutes(routes, context);
}

function requestRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, clock } = context;

  adminRoute(routes, {
    path: "developers",
    summary: "Developer applications",
    access: "read",
    answer: envelopeSchema(developerList),
    run: async () => ({ developers: (await loadDeveloperApps(pool, vault)).map(shown) }),
  });

  adminRoute(routes, {
    path: "developers/create",
    summary: "Request a developer application",
    access: "change",
    body: developerBody,
    answer: envelopeSchema(developerState),
    run: async ({ body }) => {
      const { name, purpose = "", apps, ...rate } = body;
      await assertApps(context, apps);
      const asked = { name, purpose, apps, rate: rateOf(rate, DEFAULT_RATE), createdAtMs: clock() };
      const made = await createDeveloperApp(pool, vault, asked);
      return { id: made.developerId, state: made.state };
    },
  });

  adminRoute(routes, {
    path: "developers/edit",
    summary: "Change which apps a developer application may read, and how often",
    description: "What is absent stays as it is.",
    access: "change",
    body: developerEditBody,
    answer: envelopeSchema(shownDeveloper),
    run: async ({ body }) => {
      const { id, apps, ...rate } = body;
      const known = await find(context, id);
      if (apps !== undefined) await assertApps(context, apps);
      const change = { developerId: id, apps: apps ?? known.apps, rate: rateOf(rate, known.rate) };
      await changeDeveloperApp(pool, change);
      return shown(await find(context, id));
    },
  });
}

function reviewRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, clock } = context;

  adminRoute(routes, {
    path: "developers/decide",
    summary: "Approve, refuse or disable a developer application",
    description: "The answer to an approval holds the `app_key`.",
    access: "change",
    body: developerDecisionBody,
    answer: envelopeSchema(developerDecision),
    run: async ({ body }) => {
      const { id, state, reason = "" } = body;
      const { appKey } = await find(context, id);
      await decideDeveloperApp(pool, { developerId: id, state, reason, decidedAtMs: clock() });
      return { id, state, ...(state === "approved" && { app_key: appKey }) };
    },
  });

  adminRoute(routes, {
    path: "developers/rotate",
    summary: "Give a developer application a new key",
    description: "Reports signed with the old one are refused at once.",
    access: "change",
    body: developerIdBody,
    answer: envelopeSchema(developerKey),
    run: async ({ body }) => {
      const appKey = await rotateDeveloperKey(pool, vault, body.id);
      if (appKey === undefined) throw unknown();
      return { id: body.id, app_key: appKey };
    },
  });
}

function rateOf(given: { rate_calls?: number; rate_window_s?: number }, otherwise: RateLevel): RateLevel {
  return { calls: given.rate_calls ?? otherwise.calls, windowS: given.rate_window_s ?? otherwise.windowS };
}

async function assertApps({ apps }: Pick<SettingContext, "apps">, granted: "all" | readonly number[]): Promise<void> {
  if (granted !== "all") for (const appId of granted) await apps.findById(appId);
}

async function find({ pool, vault }: Pick<SettingContext, "pool" | "vault">, id: number): Promise<DeveloperApp> {
  const known = await loadDeveloperApp(pool, vault, id);
  if (!known) throw unknown();
  return known;
}

function unknown(): ApiError {
  return new ApiError("badParameter", "There is no developer application of this id.");
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
