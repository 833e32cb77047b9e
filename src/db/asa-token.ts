import { md5 } from "../domain/user/identity.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";

/** A token that still waits for Apple's answer. */
export type AsaToken = { appId: number; clientId: string; token: string; receivedAtMs: number; attempts: number };

export type AsaTokenChange =
  | { kind: "waiting"; appId: number; clientId: string; token: string; receivedAtMs: number }
  | { kind: "resolved"; appId: number; clientId: string; outcome: string };

/**
 * Stores new tokens and outcomes in the order in which they happened. A client's new token counts only when the last
 * one ended without an attribution.
 */
export async function changeAsaTokens(tx: Executor, changes: readonly AsaTokenChange[]): Promise<void> {
  for (const run of runsOfOneKind(changes)) {
    if (run[0]!.kind === "waiting") await storeWaiting(tx, run as Waiting[]);
    else await storeResolved(tx, run as Resolved[]);
  }
}

type Waiting = Extract<AsaTokenChange, { kind: "waiting" }>;
type Resolved = Extract<AsaTokenChange, { kind: "resolved" }>;

async function storeWaiting(tx: Executor, tokens: readonly Waiting[]): Promise<void> {
  const fresh = newRows(tx, "new", tokens, {
    appId: "int",
    clientId: "text",
    token: "text",
    digest: ["text", (one) => md5(one.token)],
    receivedAtMs: "bigint",
  });
  await execute(
    tx,
    sql`insert into asa_token (app_id, client_id, token, token_digest, received_at_ms, attempts, due_at_ms, outcome)
      select app_id, client_id, token, digest, received_at_ms, 0, received_at_ms, '' from ${fresh}
      on conflict (app_id, client_id) do update set token = excluded.token, token_digest = excluded.token_digest,
        received_at_ms = excluded.received_at_ms, attempts = 0, due_at_ms = excluded.due_at_ms, outcome = ''
      where asa_token.outcome not in ('', 'attributed') and asa_token.token_digest <> excluded.token_digest`,
  );
}

async function storeResolved(tx: Executor, ends: readonly Resolved[]): Promise<void> {
  const ended = rowsOf("ended", ends, { appId: "int", clientId: "text", outcome: "text" });
  await execute(
    tx,
    sql`update asa_token set outcome = ended.outcome, token = '' from ${ended}
      where asa_token.app_id = ended.app_id and asa_token.client_id = ended.client_id`,
  );
}

/** Runs of changes of one kind in which each client occurs once, so that each is one statement. */
function runsOfOneKind(changes: readonly AsaTokenChange[]): AsaTokenChange[][] {
  const runs: AsaTokenChange[][] = [];
  let clients = new Set<string>();
  for (const change of changes) {
    const client = `${change.appId}\t${change.clientId}`;
    const last = runs.at(-1);
    if (last && last[0]!.kind === change.kind && !clients.has(client)) last.push(change);
    else {
      runs.push([change]);
      clients = new Set();
    }
    clients.add(client);
  }
  return runs;
}

/** The apps with due tokens, the one that has waited longest first. */
export async function findAppsWithDueTokens(executor: Executor, nowMs: number): Promise<number[]> {
  const rows = await query<{ appId: number }>(
    executor,
    sql`select app_id from asa_token where outcome = '' and due_at_ms <= ${nowMs}
      group by app_id order by min(due_at_ms), app_id`,
  );
  return rows.map(({ appId }) => appId);
}

/** Claims due tokens of an app until `leaseUntilMs`. Without an outcome they are due again after that. */
export async function claimAsaTokens(
  executor: Executor,
  options: { appId: number; nowMs: number; leaseUntilMs: number; limit: number },
): Promise<AsaToken[]> {
  return query<AsaToken>(
    executor,
    // Materialized for the same reason as in claimOutbox.
    sql`with due as materialized (
        select client_id from asa_token where app_id = ${options.appId} and outcome = '' and due_at_ms <= ${options.nowMs}
        order by due_at_ms, client_id limit ${options.limit} for update skip locked)
      update asa_token t set due_at_ms = ${options.leaseUntilMs}, attempts = t.attempts + 1 from due
      where t.app_id = ${options.appId} and t.client_id = due.client_id
      returning t.app_id, t.client_id, t.token, t.received_at_ms, t.attempts`,
  );
}

export async function postponeAsaToken(
  executor: Executor,
  token: { appId: number; clientId: string; dueAtMs: number },
): Promise<void> {
  await execute(
    executor,
    sql`update asa_token set due_at_ms = ${token.dueAtMs} where app_id = ${token.appId} and client_id = ${token.clientId}`,
  );
}
