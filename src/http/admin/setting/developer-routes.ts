import type { FastifyInstance } from "fastify";
import { envelopeSchema, success } from "../../../contract/envelope.ts";
import {
  type DeveloperBody,
  type DeveloperDecision,
  type DeveloperDecisionBody,
  type DeveloperEditBody,
  type DeveloperKey,
  type DeveloperList,
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
import type { SettingContext } from "./setting-context.ts";

const BASE = "/admin/api/v1/developers";

/** Applications that pull reports: requested, then approved, refused or disabled by an admin. */
export function developerRoutes(routes: FastifyInstance, context: SettingContext): void {
  requestRoutes(routes, context);
  reviewRoutes(routes, context);
}

function requestRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, clock } = context;

  routes.get(BASE, {
    schema: {
      summary: "Developer applications",
      tags: ["admin"],
      response: { 200: envelopeSchema(developerList) },
    },
    handler: async () =>
      success({ developers: (await loadDeveloperApps(pool, vault)).map(shown) } satisfies DeveloperList),
  });

  routes.post(`${BASE}/create`, {
    schema: {
      summary: "Request a developer application",
      ...{ tags: ["admin"], body: developerBody, response: { 200: envelopeSchema(developerState) } },
    },
    handler: async (request) => {
      const { name, purpose = "", apps, ...rate } = request.body as DeveloperBody;
      await assertApps(context, apps);
      const asked = { name, purpose, apps, rate: rateOf(rate, DEFAULT_RATE), createdAtMs: clock() };
      const made = await createDeveloperApp(pool, vault, asked);
      return success({ id: made.developerId, state: made.state });
    },
  });

  routes.post(`${BASE}/edit`, {
    schema: {
      summary: "Change which apps a developer application may read, and how often",
      description: "What is absent stays as it is.",
      ...{ tags: ["admin"], body: developerEditBody, response: { 200: envelopeSchema(shownDeveloper) } },
    },
    handler: async (request) => {
      const { id, apps, ...rate } = request.body as DeveloperEditBody;
      const known = await find(context, id);
      if (apps !== undefined) await assertApps(context, apps);
      const change = { developerId: id, apps: apps ?? known.apps, rate: rateOf(rate, known.rate) };
      await changeDeveloperApp(pool, change);
      return success(shown(await find(context, id)));
    },
  });
}

function reviewRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, clock } = context;

  routes.post(`${BASE}/decide`, {
    schema: {
      summary: "Approve, refuse or disable a developer application",
      description: "The answer to an approval holds the `app_key`.",
      ...{ tags: ["admin"], body: developerDecisionBody, response: { 200: envelopeSchema(developerDecision) } },
    },
    handler: async (request) => {
      const { id, state, reason = "" } = request.body as DeveloperDecisionBody;
      const { appKey } = await find(context, id);
      await decideDeveloperApp(pool, { developerId: id, state, reason, decidedAtMs: clock() });
      return success({ id, state, ...(state === "approved" && { app_key: appKey }) } satisfies DeveloperDecision);
    },
  });

  routes.post(`${BASE}/rotate`, {
    schema: {
      summary: "Give a developer application a new key",
      description: "Reports signed with the old one are refused at once.",
      ...{ tags: ["admin"], body: developerIdBody, response: { 200: envelopeSchema(developerKey) } },
    },
    handler: async (request) => {
      const { id } = request.body as { id: number };
      const appKey = await rotateDeveloperKey(pool, vault, id);
      if (appKey === undefined) throw unknown();
      return success({ id, app_key: appKey } satisfies DeveloperKey);
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
