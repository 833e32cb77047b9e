import type { FastifyInstance } from "fastify";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { envelopeSchema } from "../../../contract/envelope.ts";
import {
  appMetadata,
  eventDeclareBody,
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
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** Which events and properties an app has shown, and what was declared of them. */
export function metadataRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, apps, clock } = context;

  adminRoute(routes, {
    path: "metadata",
    summary: "Events and properties of an app",
    access: "read",
    query: appIdQuery,
    answer: envelopeSchema(appMetadata),
    run: async ({ query }) => shown(context, Number(query.app_id)),
  });

  adminRoute(routes, {
    path: "metadata/events/declare",
    summary: "Declare events, or switch them off",
    access: "change",
    body: eventDeclareBody,
    answer: envelopeSchema(appMetadata),
    run: async ({ body }) => {
      const { app_id, names, state } = body;
      const { appId } = await apps.findById(app_id);
      const metas = [...new Set(names)].map((name): EventMeta => ({ appId, name, state }));
      await assertRoom(context, appId, { events: metas, properties: [] });
      await declareEvents(pool, metas, clock());
      await apps.reload();
      return shown(context, appId);
    },
  });

  adminRoute(routes, {
    path: "metadata/properties/declare",
    summary: "Declare properties and their types",
    access: "change",
    body: propertyDeclareBody,
    answer: envelopeSchema(appMetadata),
    run: async ({ body }) => {
      const { app_id, properties } = body;
      const { appId } = await apps.findById(app_id);
      const metas = new Map<string, PropertyMeta>();
      for (const { scope, name, type } of properties)
        metas.set(keyOf({ scope, name }), { appId, scope, name, type, state: "declared" });
      await assertRoom(context, appId, { events: [], properties: [...metas.values()] });
      await declareProperties(pool, [...metas.values()], clock());
      await apps.reload();
      return shown(context, appId);
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
      scope,
      name,
      type,
      state,
      changed_at_ms: changedAtMs,
    })),
  };
}
