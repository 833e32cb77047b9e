import {
  type EventDeclareBody,
  eventDeclareBody,
  type PropertyDeclareBody,
  propertyDeclareBody,
} from "../../contract/setting/metadata.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { declareEvents, declareProperties, type EventMeta, loadAppMeta, type PropertyMeta } from "../../db/metadata.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

/** Declares events of an app, or switches them off. */
export function declareAppEvents(desk: Desk, body: EventDeclareBody): Promise<void> {
  return act(desk, {
    action: "metadata/events/declare",
    schema: eventDeclareBody,
    body,
    run: async (tx) => {
      const { app_id: appId, names, state } = body;
      await assertApps(tx, [appId]);
      const events = [...new Set(names)].map((name): EventMeta => ({ appId, name, state }));
      await assertRoom(tx, appId, { events, properties: [] });
      await declareEvents(tx, events, desk.clock());
    },
  });
}

/** Declares properties of an app and their types. When a name is repeated, the last one counts. */
export function declareAppProperties(desk: Desk, body: PropertyDeclareBody): Promise<void> {
  return act(desk, {
    action: "metadata/properties/declare",
    schema: propertyDeclareBody,
    body,
    run: async (tx) => {
      const { app_id: appId } = body;
      await assertApps(tx, [appId]);
      const byKey = new Map<string, PropertyMeta>();
      for (const { scope, name, type } of body.properties)
        byKey.set(keyOf({ scope, name }), { appId, scope, name, type, state: "declared" });
      const properties = [...byKey.values()];
      await assertRoom(tx, appId, { events: [], properties });
      await declareProperties(tx, properties, desk.clock());
    },
  });
}

type Names = { events: readonly EventMeta[]; properties: readonly PropertyMeta[] };

/** Limits the names of an app: all names of all apps are held in memory. */
async function assertRoom(tx: Executor, appId: number, more: Names): Promise<void> {
  const known = await loadAppMeta(tx, { appId, limit: LIMITS.namesPerApp });
  const events = new Set([...known.events, ...more.events].map(({ name }) => name));
  const properties = new Set([...known.properties, ...more.properties].map(keyOf));
  if (Math.max(events.size, properties.size) > LIMITS.namesPerApp)
    throw new ApiError("badParameter", `The app would have more than ${LIMITS.namesPerApp} names.`);
}

function keyOf({ scope, name }: Pick<PropertyMeta, "scope" | "name">): string {
  return `${scope} ${name}`;
}
