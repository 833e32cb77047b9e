import type { CallbackKind } from "../domain/postback/callback.ts";
import type { Vault } from "../vault.ts";
import { isOf } from "./app.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { sealFor } from "./sealed.ts";

/** A URL at which an app's own systems receive callbacks. */
export type Callback = {
  appId: number;
  kind: CallbackKind;
  url: string;
  /** Signs the posted body. */
  secret: string;
  /** The names of the events to send; used by the kind `event` only. */
  events: readonly string[];
  enabled: boolean;
};

type CallbackRow = Omit<Callback, "secret"> & { secretSealed: string };

const columns = sql`app_id, kind, url, secret_sealed, events, enabled`;

/** The part of a callback that apply needs, without address and secret. */
export type CallbackWish = Pick<Callback, "appId" | "kind" | "events">;

export async function loadCallbackWishes(executor: Executor, appIds: readonly number[]): Promise<CallbackWish[]> {
  return query<CallbackWish>(
    executor,
    sql`select app_id, kind, events from callback where enabled and ${isOf(appIds)}`,
  );
}

export async function loadCallbacks(executor: Executor, vault: Vault, appId?: number): Promise<Callback[]> {
  const rows = await query<CallbackRow>(
    executor,
    sql`select ${columns} from callback where ${appId === undefined ? sql`true` : sql`app_id = ${appId}`} order by app_id, kind`,
  );
  return rows.map(({ secretSealed, ...row }) => ({ ...row, secret: vault.open(secretSealed) }));
}

export async function storeCallback(
  executor: Executor,
  vault: Vault,
  callback: Callback,
  changedAtMs: number,
): Promise<void> {
  const { appId, kind, url, events, enabled } = callback;
  const sealed = await sealFor(executor, vault, callback.secret);
  await execute(
    executor,
    sql`insert into callback (app_id, kind, url, secret_sealed, events, enabled, changed_at_ms)
      values (${appId}, ${kind}, ${url}, ${sealed}, ${events}::text[], ${enabled}, ${changedAtMs})
      on conflict (app_id, kind) do update set url = excluded.url, secret_sealed = excluded.secret_sealed,
        events = excluded.events, enabled = excluded.enabled, changed_at_ms = excluded.changed_at_ms`,
  );
}

/** Returns false when there is none. */
export async function removeCallback(executor: Executor, key: Pick<Callback, "appId" | "kind">): Promise<boolean> {
  return (await execute(executor, sql`delete from callback where app_id = ${key.appId} and kind = ${key.kind}`)) > 0;
}
