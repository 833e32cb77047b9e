import type { AppChoice } from "../domain/access/role.ts";
import type { JsonObject } from "../domain/json.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** A permitted change, view of a secret or export; or failed sign-ins. */
export type AuditEntry = {
  atMs: number;
  actor: string;
  address: string;
  action: string;
  appId: number | null;
  details: JsonObject;
};

/** Returns the entry's id, with which it can be changed. */
export async function addAudit(executor: Executor, entry: AuditEntry): Promise<number> {
  const [added] = await query<{ auditId: number }>(
    executor,
    sql`insert into audit_log (at_ms, actor, address, action, app_id, details)
      values (${entry.atMs}, ${entry.actor}, ${entry.address}, ${entry.action}, ${entry.appId}::int, ${JSON.stringify(entry.details)})
      returning audit_id`,
  );
  return added!.auditId;
}

export async function changeAudit(executor: Executor, auditId: number, details: JsonObject): Promise<void> {
  await execute(executor, sql`update audit_log set details = ${JSON.stringify(details)} where audit_id = ${auditId}`);
}

/** A page of entries before `beforeId`, newest first. */
export async function loadAudit(
  executor: Executor,
  page: { apps: AppChoice; beforeId: number; limit: number },
): Promise<(AuditEntry & { auditId: number })[]> {
  const ofApps = page.apps === "all" ? sql`true` : sql`app_id = any(${page.apps}::bigint[])`;
  return query(
    executor,
    sql`select audit_id, at_ms, actor, address, action, app_id, details
      from audit_log where ${ofApps} and audit_id < ${page.beforeId} order by audit_id desc limit ${page.limit}`,
  );
}
