import type { FastifyInstance } from "fastify";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { envelopeSchema, success } from "../../../contract/envelope.ts";
import {
  appMetadata,
  type EventDeclareBody,
  eventDeclareBody,
  type PropertyDeclareBody,
  propertyDeclareBody,
  type ShownMetadata,
} from "../../../contract/setting/metadata.ts";
import {
  declareEvents,
  declareProperties,
  type EventMeta,
  loadAppMeta,
  type PropertyMeta,
} from "../../../db/metadata.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import type { SettingContext } from "./setting-context.ts";

const BASE = "/admin/api/v1/metadata";

/** Which events and properties an app has shown, and what was declared of them. */
export function metadataRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, apps, clock } = context;

  routes.get(BASE, {
    schema: {
      summary: "Events and properties of an app",
      ...{ tags: ["admin"], querystring: appIdQuery, response: { 200: envelopeSchema(appMetadata) } },
    },
    handler: async (request) => success(await shown(context, Number((request.query as { app_id: string }).app_id))),
  });

  routes.post(`${BASE}/events/declare`, {
    schema: {
      summary: "Declare events, or switch them off",
      ...{ tags: ["admin"], body: eventDeclareBody, response: { 200: envelopeSchema(appMetadata) } },
    },
    handler: async (request) => {
      const { app_id, names, state } = request.body as EventDeclareBody;
      const { appId } = await apps.findById(app_id);
      const metas = [...new Set(names)].map((name): EventMeta => ({ appId, name, state }));
      await assertRoom(context, appId, { events: metas, properties: [] });
      await declareEvents(pool, metas, clock());
      await apps.reload();
      return success(await shown(context, appId));
    },
  });

  routes.post(`${BASE}/properties/declare`, {
    schema: {
      summary: "Declare properties and their types",
      ...{ tags: ["admin"], body: propertyDeclareBody, response: { 200: envelopeSchema(appMetadata) } },
    },
    handler: async (request) => {
      const { app_id, properties } = request.body as PropertyDeclareBody;
      const { appId } = await apps.findById(app_id);
      const metas = new Map<string, PropertyMeta>();
      for (const { scope, name, type } of properties)
        metas.set(keyOf({ scope, name }), { appId, scope, name, type, state: "declared" });
      await assertRoom(context, appId, { events: [], properties: [...metas.values()] });
      await declareProperties(pool, [...metas.values()], clock());
      await apps.reload();
      return success(await shown(context, appId));
    },
  });
}

type Names = { events: readonly EventMeta[]; properties: readonly PropertyMeta[] };

/** All names of all apps are held in memory, so there is an end to them. */
async function assertRoom({ pool }: Pick<SettingContext, "pool">, appId: number, more: Names): Promise<void> {
  const known = await loadAppMeta(pool, { appId, limit: LIMITS.namesPerApp });
  const events = new Set([...known.events, ...more.events].map(({ name }) => name));
  const properties = new Set([...known.properties, ...more.properties].map(keyOf));
  if (Math.max(events.size, properties.size) > LIMITS.namesPerApp)
    throw new ApiError("badParameter", `The app has ${LIMITS.namesPerApp} names already.`);
}

function keyOf({ scope, name }: Pick<PropertyMeta, "scope" | "name">): string {
  return `${scope} ${name}`;
}

async function shown({ pool, apps }: Pick<SettingContext, "pool" | "apps">, id: number): Promise<ShownMetadata> {
  const { appId, metadataMode } = await apps.findById(id);
  const { events, properties } = await loadAppMeta(pool, { appId, limit: LIMITS.namesPerApp });
  return {
    metadata: metadataMode,
    events: events.map(({ name, state, changedAtMs }) => ({ name, state, changed_at_ms: changedAtMs })),
    properties: properties.map(({ scope, name, type, state, changedAtMs }) => ({
      ...{ scope, name, type, state },
      changed_at_ms: changedAtMs,
    })),
  };
}
