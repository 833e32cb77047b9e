import { randomBytes } from "node:crypto";
import type { Static } from "typebox";
import { callbackRemoveBody, callbackSetBody } from "../../contract/setting/account.ts";
import { loadCallbacks, removeCallback, storeCallback } from "../../db/callback.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { giveUpLane } from "../../db/postback-outcome.ts";
import { type CallbackKind, readCallback } from "../../domain/postback/callback.ts";
import { callbackLaneOf } from "../../domain/postback/postback-book.ts";
import { ApiError } from "../../errors.ts";
import type { Vault } from "../../vault.ts";
import { assertApps } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

/** A callback as shown to people. The secret is shown only once, when it is generated. */
export type ShownCallback = { kind: CallbackKind; url: string; events: readonly string[]; secret?: string };

export async function listCallbacks(executor: Executor, vault: Vault, appId: number): Promise<ShownCallback[]> {
  return (await loadCallbacks(executor, vault, appId)).map(({ kind, url, events }) => ({ kind, url, events }));
}

/** Creates or changes a callback of an app. */
export function setCallback(
  desk: Desk & { mayCallPrivate: boolean },
  body: Static<typeof callbackSetBody>,
): Promise<ShownCallback> {
  const { vault, clock } = desk;
  return act(desk, {
    action: "callbacks/set",
    schema: callbackSetBody,
    body,
    run: async (tx) => {
      const { app_id: appId, ...given } = body;
      await assertApps(tx, [appId]);
      const { kind, url, events, secret } = readCallback(given, desk);
      const known = (await loadCallbacks(tx, vault, appId)).find((callback) => callback.kind === kind);
      const isMade = secret === undefined && !known && kind === "event";
      const made = isMade ? randomBytes(24).toString("base64url") : undefined;
      const used = secret ?? made ?? known?.secret ?? "";
      await storeCallback(tx, vault, { appId, kind, url, events, secret: used, enabled: true }, clock());
      return { kind, url, events, ...(made !== undefined && { secret: made }) };
    },
  });
}

const REMOVED = "The callback was removed.";

/** Removes a callback and gives up its waiting messages; returns their number. */
export function dropCallback(desk: Desk, body: Static<typeof callbackRemoveBody>): Promise<{ given_up: number }> {
  return act(desk, {
    action: "callbacks/remove",
    schema: callbackRemoveBody,
    body,
    run: async (tx) => {
      const { app_id: appId, kind } = body;
      await assertApps(tx, [appId]);
      const isRemoved = await removeCallback(tx, { appId, kind });
      const givenUp = await giveUpLane(tx, callbackLaneOf(appId, kind), { reason: REMOVED, nowMs: desk.clock() });
      if (!isRemoved && givenUp === 0)
        throw new ApiError("badParameter", `App ${appId} has no callback of kind ${kind}.`);
      return { given_up: givenUp };
    },
  });
}
