import type { FastifyInstance } from "fastify";
import { declareAppEvents, declareAppProperties } from "../../../admin/setting/metadata.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { envelopeSchema } from "../../../contract/envelope.ts";
import {
  appMetadata,
  eventDeclareBody,
  propertyDeclareBody,
  type ShownMetadata,
} from "../../../contract/setting/metadata.ts";
import { loadAppMeta } from "../../../db/metadata.ts";
import { LIMITS } from "../../../limits.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** The events and properties that an app has sent or declared. */
export function metadataRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock } = context;

  adminRoute(routes, {
    path: "metadata",
    summary: "Events and properties of an app",
    access: "detail",
    query: appIdQuery,
    answer: envelopeSchema(appMetadata),
    run: async ({ query }) => shown(context, Number(query.app_id)),
  });

  adminRoute(routes, {
    path: "metadata/events/declare",
    summary: "Declare events, or switch them off",
    access: "setting",
    body: eventDeclareBody,
    answer: envelopeSchema(appMetadata),
    run: async ({ body, by }) => {
      await declareAppEvents({ pool, vault, clock, by }, body);
      await apps.reload();
      return shown(context, body.app_id);
    },
  });

  adminRoute(routes, {
    path: "metadata/properties/declare",
    summary: "Declare properties and their types",
    access: "setting",
    body: propertyDeclareBody,
    answer: envelopeSchema(appMetadata),
    run: async ({ body, by }) => {
      await declareAppProperties({ pool, vault, clock, by }, body);
      await apps.reload();
      return shown(context, body.app_id);
    },
  });
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
