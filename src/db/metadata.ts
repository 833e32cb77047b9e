import type { MetaState, PropertyScope, PropertyType } from "../domain/event/metadata.ts";
import { isOf, tellSettingsChanged } from "./app.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

export type EventMeta = { appId: number; name: string; state: MetaState };
export type PropertyMeta = {
  appId: number;
  scope: PropertyScope;
  name: string;
  type: PropertyType | "any";
  state: MetaState;
};

export async function loadEventMeta(executor: Executor, appIds?: readonly number[]): Promise<EventMeta[]> {
  return query<EventMeta>(
    executor,
    sql`select app_id, name, state from event_meta where ${isOf(appIds)} order by app_id, name`,
  );
}

export async function loadPropertyMeta(executor: Executor, appIds?: readonly number[]): Promise<PropertyMeta[]> {
  return query<PropertyMeta>(
    executor,
    sql`select app_id, scope, name, type, state from property_meta where ${isOf(appIds)}
      order by app_id, scope, name`,
  );
}

/** The observed and declared metadata of an app, with the time of the last change; at most `limit` of each kind. */
export async function loadAppMeta(
  executor: Executor,
  { appId, limit }: { appId: number; limit: number },
): Promise<{ events: (EventMeta & Changed)[]; properties: (PropertyMeta & Changed)[] }> {
  const events = await query<EventMeta & Changed>(
    executor,
    sql`select app_id, name, state, changed_at_ms from event_meta
      where app_id = ${appId} order by name limit ${limit}`,
  );
  const properties = await query<PropertyMeta & Changed>(
    executor,
    sql`select app_id, scope, name, type, state, changed_at_ms from property_meta
      where app_id = ${appId} order by scope, name limit ${limit}`,
  );
  return { events, properties };
}

type Changed = { changedAtMs: number };

/** Stores a person's declarations of events, replacing what was observed. No event may be named twice. */
export async function declareEvents(executor: Executor, metas: readonly EventMeta[], nowMs: number): Promise<void> {
  const declared = rowsOf("declared", metas, { appId: "int", name: "text", state: "text" });
  await execute(
    executor,
    sql`insert into event_meta (app_id, name, state, changed_at_ms)
      select app_id, name, state, ${nowMs}::bigint from ${declared}
      on conflict (app_id, name) do update set state = excluded.state, changed_at_ms = excluded.changed_at_ms`,
  );
  await tellSettingsChanged(
    executor,
    metas.map((meta) => meta.appId),
  );
}

/** The same for properties. */
export async function declareProperties(
  executor: Executor,
  metas: readonly PropertyMeta[],
  nowMs: number,
): Promise<void> {
  const declared = rowsOf("declared", metas, {
    appId: "int",
    scope: "text",
    name: "text",
    type: "text",
    state: "text",
  });
  await execute(
    executor,
    sql`insert into property_meta (app_id, scope, name, type, state, changed_at_ms)
      select app_id, scope, name, type, state, ${nowMs}::bigint from ${declared}
      on conflict (app_id, scope, name) do update
        set type = excluded.type, state = excluded.state, changed_at_ms = excluded.changed_at_ms`,
  );
  await tellSettingsChanged(
    executor,
    metas.map((meta) => meta.appId),
  );
}

export type ObservedName = { appId: number; kind: "event" | `${PropertyScope}_property`; name: string; atMs: number };

/** Stores names seen for the first time. Known names stay as they are, whatever their state. */
export async function noteObserved(executor: Executor, names: readonly ObservedName[]): Promise<void> {
  const events = names.filter((name) => name.kind === "event");
  if (events.length > 0) {
    const observed = newRows(executor, "observed", events, { appId: "int", name: "text", atMs: "bigint" });
    await execute(
      executor,
      sql`insert into event_meta (app_id, name, state, changed_at_ms)
        select app_id, name, 'observed', at_ms from ${observed}
        on conflict do nothing`,
    );
  }
  const properties = names.filter((name) => name.kind !== "event");
  if (properties.length > 0) {
    const observed = newRows(executor, "observed", properties, {
      appId: "int",
      scope: ["text", (n) => n.kind.replace("_property", "")],
      name: "text",
      atMs: "bigint",
    });
    await execute(
      executor,
      sql`insert into property_meta (app_id, scope, name, type, state, changed_at_ms)
        select app_id, scope, name, 'any', 'observed', at_ms from ${observed}
        on conflict do nothing`,
    );
  }
}
