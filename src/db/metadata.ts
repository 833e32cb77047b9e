import type { MetaState, PropertyScope, PropertyType } from "../domain/metadata.ts";
import { tellSettingsChanged } from "./app.ts";
import { type Executor, execute, query, sql } from "./sql.ts";

export type EventMeta = { appId: number; name: string; state: MetaState };
export type PropertyMeta = {
  appId: number;
  scope: PropertyScope;
  name: string;
  type: PropertyType | "any";
  state: MetaState;
};

export async function loadEventMeta(executor: Executor): Promise<EventMeta[]> {
  return query<EventMeta>(executor, sql`select app_id as "appId", name, state from event_meta order by app_id, name`);
}

export async function loadPropertyMeta(executor: Executor): Promise<PropertyMeta[]> {
  return query<PropertyMeta>(
    executor,
    sql`select app_id as "appId", scope, name, type, state from property_meta order by app_id, scope, name`,
  );
}

/** A person's word on an event or a property; replaces what was observed. */
export async function declareEvent(executor: Executor, meta: EventMeta, nowMs: number): Promise<void> {
  await execute(
    executor,
    sql`insert into event_meta (app_id, name, state, changed_at_ms)
      values (${meta.appId}, ${meta.name}, ${meta.state}, ${nowMs})
      on conflict (app_id, name) do update set state = excluded.state, changed_at_ms = excluded.changed_at_ms`,
  );
  await tellSettingsChanged(executor);
}

export async function declareProperty(executor: Executor, meta: PropertyMeta, nowMs: number): Promise<void> {
  await execute(
    executor,
    sql`insert into property_meta (app_id, scope, name, type, state, changed_at_ms)
      values (${meta.appId}, ${meta.scope}, ${meta.name}, ${meta.type}, ${meta.state}, ${nowMs})
      on conflict (app_id, scope, name) do update
        set type = excluded.type, state = excluded.state, changed_at_ms = excluded.changed_at_ms`,
  );
  await tellSettingsChanged(executor);
}

export type ObservedName = { appId: number; kind: "event" | `${PropertyScope}_property`; name: string; atMs: number };

/** Names seen for the first time. One that is known already, in whatever state, stays as it is. */
export async function noteObserved(executor: Executor, names: readonly ObservedName[]): Promise<void> {
  const events = names.filter((name) => name.kind === "event");
  if (events.length > 0) {
    await execute(
      executor,
      sql`insert into event_meta (app_id, name, state, changed_at_ms)
        select app_id, name, 'observed', at_ms
        from unnest(${events.map((n) => n.appId)}::int[], ${events.map((n) => n.name)}::text[], ${events.map((n) => n.atMs)}::bigint[])
          as observed (app_id, name, at_ms)
        on conflict do nothing`,
    );
  }
  const properties = names.filter((name) => name.kind !== "event");
  if (properties.length > 0) {
    await execute(
      executor,
      sql`insert into property_meta (app_id, scope, name, type, state, changed_at_ms)
        select app_id, scope, name, 'any', 'observed', at_ms
        from unnest(${properties.map((n) => n.appId)}::int[], ${properties.map((n) => n.kind.replace("_property", ""))}::text[],
          ${properties.map((n) => n.name)}::text[], ${properties.map((n) => n.atMs)}::bigint[])
          as observed (app_id, scope, name, at_ms)
        on conflict do nothing`,
    );
  }
}
