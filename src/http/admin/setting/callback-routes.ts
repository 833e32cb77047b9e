import type { FastifyInstance } from "fastify";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { success } from "../../../contract/envelope.ts";
import {
  type CallbackList,
  callbackListAnswer,
  callbackRemoveBody,
  callbackSetBody,
  type GivenUp,
  givenUpAnswer,
  type MadeCallback,
  madeCallbackAnswer,
} from "../../../contract/setting/account.ts";
import { type GivenCallback, KNOWN_MACROS } from "../../../domain/postback/callback.ts";
import { dropCallback, listCallbacks, setCallback } from "../../../postback/callbacks.ts";
import type { SettingContext } from "./setting-context.ts";

const BASE = "/admin/api/v1/callbacks";

/** Where an app's own systems are told. */
export function callbackRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock, config } = context;

  routes.get(BASE, {
    schema: {
      summary: "Callbacks to an app's own systems, without their secrets",
      ...{ tags: ["admin"], querystring: appIdQuery, response: { 200: callbackListAnswer } },
    },
    handler: async (request) => {
      const { appId } = await apps.findById(Number((request.query as { app_id: string }).app_id));
      return success({
        callbacks: await listCallbacks(pool, vault, appId),
        macros: KNOWN_MACROS,
      } satisfies CallbackList);
    },
  });

  routes.post(`${BASE}/set`, {
    schema: {
      summary: "Make or change a callback",
      description:
        "`attribution`: a GET with macros for each user whose source is known. `event`: a signed POST for each event named. " +
        "A secret that was made is in this answer and nowhere else.",
      ...{ tags: ["admin"], body: callbackSetBody, response: { 200: madeCallbackAnswer } },
    },
    handler: async (request) => {
      const { app_id, ...given } = request.body as { app_id: number } & GivenCallback;
      const { appId } = await apps.findById(app_id);
      const deps = { pool, vault, nowMs: clock(), mayCallPrivate: config.callbackPrivateNetworks };
      return success((await setCallback(deps, appId, given)) satisfies MadeCallback);
    },
  });

  routes.post(`${BASE}/remove`, {
    schema: {
      summary: "Remove a callback",
      description: "What still waits for it is given up; `given_up` says how many.",
      ...{ tags: ["admin"], body: callbackRemoveBody, response: { 200: givenUpAnswer } },
    },
    handler: async (request) => {
      const { app_id, kind } = request.body as { app_id: number; kind: string };
      const { appId } = await apps.findById(app_id);
      return success((await dropCallback({ pool, nowMs: clock() }, appId, kind)) satisfies GivenUp);
    },
  });
}
