import { randomBytes } from "node:crypto";
import type pg from "pg";
import { loadCallbacks, removeCallback, storeCallback } from "../db/callback.ts";
import { inTransaction } from "../db/engine/pool.ts";
import type { Executor } from "../db/engine/sql.ts";
import { giveUpLane } from "../db/postback-outcome.ts";
import { type CallbackKind, type GivenCallback, readCallback, readCallbackKind } from "../domain/postback/callback.ts";
import { callbackLaneOf } from "../domain/postback/postback-book.ts";
import { ApiError } from "../errors.ts";
import type { Vault } from "../vault.ts";

/** A callback as people see it; the secret only once, when it was made. */
export type ShownCallback = { kind: CallbackKind; url: string; events: readonly string[]; secret?: string };

export async function listCallbacks(executor: Executor, vault: Vault, appId: number): Promise<ShownCallback[]> {
  return (await loadCallbacks(executor, vault, appId)).map(({ kind, url, events }) => ({ kind, url, events }));
}

export async function setCallback(
  deps: { pool: pg.Pool; vault: Vault; nowMs: number; mayCallPrivate: boolean },
  appId: number,
  given: GivenCallback,
): Promise<ShownCallback> {
  const { pool, vault, nowMs } = deps;
  const { kind, url, events, secret } = readCallback(given, deps);
  return inTransaction(pool, async (tx) => {
    const known = (await loadCallbacks(tx, vault, appId)).find((callback) => callback.kind === kind);
    const made = secret === undefined && !known && kind === "event" ? randomBytes(24).toString("base64url") : undefined;
    const used = secret ?? made ?? known?.secret ?? "";
    await storeCallback(tx, vault, { appId, kind, url, events, secret: used, enabled: true }, nowMs);
    return { kind, url, events, ...(made !== undefined && { secret: made }) };
  });
}

export const REMOVED = "The callback was removed.";

/** Takes a callback away and gives up what still waits for it; returns how many that were. */
export async function dropCallback(
  { pool, nowMs }: { pool: pg.Pool; nowMs: number },
  appId: number,
  kindText: string,
): Promise<{ given_up: number }> {
  const kind = readCallbackKind(kindText);
  return inTransaction(pool, async (tx) => {
    const isRemoved = await removeCallback(tx, { appId, kind });
    const givenUp = await giveUpLane(tx, callbackLaneOf(appId, kind), { reason: REMOVED, nowMs });
    if (!isRemoved && givenUp === 0)
      throw new ApiError("badParameter", `App ${appId} has no callback of kind ${kind}.`);
    return { given_up: givenUp };
  });
}
