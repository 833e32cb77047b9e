import { md5 } from "../domain/identity.ts";
import { type Executor, execute, query, sql } from "./sql.ts";

/** A token that Apple has not been asked about yet, or has not answered. */
export type AsaToken = { appId: number; clientId: string; token: string; receivedAtMs: number; attempts: number };

export type AsaTokenChange =
  | { kind: "waiting"; appId: number; clientId: string; token: string; receivedAtMs: number }
  | { kind: "resolved"; appId: number; clientId: string; outcome: string };

/** In the order in which they happened: a token, or the end of one. Another token counts where the last one led nowhere. */
export async function changeAsaTokens(tx: Executor, changes: readonly AsaTokenChange[]): Promise<void> {
  for (const change of changes) {
    const { appId, clientId } = change;
    if (change.kind === "waiting") {
      await execute(
        tx,
        sql`insert into asa_token (app_id, client_id, token, token_digest, received_at_ms, attempts, due_at_ms, outcome)
          values (${appId}, ${clientId}, ${change.token}, ${md5(change.token)}, ${change.receivedAtMs}, 0, ${change.receivedAtMs}, '')
          on conflict (app_id, client_id) do update set token = excluded.token, token_digest = excluded.token_digest, received_at_ms = excluded.received_at_ms,
            attempts = 0, due_at_ms = excluded.due_at_ms, outcome = ''
          where asa_token.outcome not in ('', 'attributed') and asa_token.token_digest <> excluded.token_digest`,
      );
    } else {
      await execute(
        tx,
        sql`update asa_token set outcome = ${change.outcome}, token = '' where app_id = ${appId} and client_id = ${clientId}`,
      );
    }
  }
}

/**
 * Takes tokens that are due, and keeps them from others until `leaseUntilMs`. Where that passes without an answer they
 * are due again.
 */
export async function claimAsaTokens(
  executor: Executor,
  options: { nowMs: number; leaseUntilMs: number; limit: number },
): Promise<AsaToken[]> {
  return query<AsaToken>(
    executor,
    sql`update asa_token set due_at_ms = ${options.leaseUntilMs}, attempts = attempts + 1
      where (app_id, client_id) in (
        select app_id, client_id from asa_token where outcome = '' and due_at_ms <= ${options.nowMs}
        order by due_at_ms, app_id, client_id limit ${options.limit} for update skip locked)
      returning app_id as "appId", client_id as "clientId", token, received_at_ms as "receivedAtMs", attempts`,
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
