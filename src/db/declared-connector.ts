import type { JsonObject } from "../domain/json.ts";
import { isOf } from "./app.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

export type ConnectorKey = { appId: number; adPlatform: string };

/** How an app describes the postbacks of a platform; see platform/declared. */
export type StoredDeclaration = ConnectorKey & { declaration: JsonObject; changedAtMs: number };

/** All declarations, or those of one app. */
export async function loadDeclarations(executor: Executor, appId?: number): Promise<StoredDeclaration[]> {
  return query<StoredDeclaration>(
    executor,
    sql`select app_id, ad_platform, declaration, changed_at_ms from declared_connector
      where ${appId === undefined ? sql`true` : sql`app_id = ${appId}`} order by app_id, ad_platform`,
  );
}

/** The part that apply needs: which platforms take postbacks. */
export async function loadDeclaredPlatforms(executor: Executor, appIds: readonly number[]): Promise<ConnectorKey[]> {
  return query<ConnectorKey>(executor, sql`select app_id, ad_platform from declared_connector where ${isOf(appIds)}`);
}

/** Makes other changes to the app's connectors, and to its accounts, wait until the transaction ends. */
export async function lockConnectors(tx: Executor, appId: number): Promise<void> {
  await execute(tx, sql`select 1 from app where app_id = ${appId} for no key update`);
}

export async function storeDeclaration(executor: Executor, stored: StoredDeclaration): Promise<void> {
  const { appId, adPlatform, declaration, changedAtMs } = stored;
  await execute(
    executor,
    sql`insert into declared_connector (app_id, ad_platform, declaration, changed_at_ms)
      values (${appId}, ${adPlatform}, ${JSON.stringify(declaration)}, ${changedAtMs})
      on conflict (app_id, ad_platform) do update set declaration = excluded.declaration,
        changed_at_ms = excluded.changed_at_ms`,
  );
}

/** Returns false when there is none. */
export async function removeDeclaration(executor: Executor, { appId, adPlatform }: ConnectorKey): Promise<boolean> {
  const statement = sql`delete from declared_connector where app_id = ${appId} and ad_platform = ${adPlatform}`;
  return (await execute(executor, statement)) > 0;
}
