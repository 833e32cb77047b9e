import type { UserKey } from "../domain/user/user-key.ts";
import { type Executor, execute, sql } from "./engine/sql.ts";

const CHANNEL = "touchpoint_gone_client";

/** Lets every process know that a client was renamed or erased, once the transaction commits. */
export async function tellGone(tx: Executor, { appId, clientId }: UserKey): Promise<void> {
  await execute(tx, sql`select pg_notify(${CHANNEL}, ${`${appId} ${clientId}`})`);
}

export async function listenForGone(executor: Executor): Promise<void> {
  await executor.query(`listen ${CHANNEL}`);
}

/** The client that a notification is about, or undefined when it is about something else. */
export function goneClientOf({ channel, payload = "" }: { channel: string; payload?: string }): UserKey | undefined {
  const [, appId, clientId] = /^(\d+) (.+)$/s.exec(payload) ?? [];
  if (channel !== CHANNEL || clientId === undefined) return undefined;
  return { appId: Number(appId), clientId };
}
