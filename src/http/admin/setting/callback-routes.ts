import type { FastifyInstance } from "fastify";
import { dropCallback, listCallbacks, setCallback } from "../../../admin/setting/callbacks.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import {
  callbackListAnswer,
  callbackRemoveBody,
  callbackSetBody,
  givenUpAnswer,
  madeCallbackAnswer,
} from "../../../contract/setting/account.ts";
import { KNOWN_MACROS } from "../../../domain/postback/callback.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** Callbacks to an app's own systems. */
export function callbackRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock, config } = context;

  adminRoute(routes, {
    path: "callbacks",
    summary: "Callbacks to an app's own systems, without their secrets",
    access: "detail",
    query: appIdQuery,
    answer: callbackListAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return { callbacks: await listCallbacks(pool, vault, appId), macros: KNOWN_MACROS };
    },
  });

  adminRoute(routes, {
    path: "callbacks/set",
    summary: "Create or change a callback",
    description:
      "`attribution`: a GET with macros for each attributed user. `event`: a signed POST for each of the named events. " +
      "A generated secret is shown in this answer only.",
    access: "setting",
    body: callbackSetBody,
    answer: madeCallbackAnswer,
    run: ({ body, by }) =>
      setCallback({ pool, vault, clock, by, mayCallPrivate: config.callbackPrivateNetworks }, body),
  });

  adminRoute(routes, {
    path: "callbacks/remove",
    summary: "Remove a callback",
    description: "Calls still waiting for it are marked as failed; `given_up` counts them.",
    access: "setting",
    body: callbackRemoveBody,
    answer: givenUpAnswer,
    run: ({ body, by }) => dropCallback({ pool, vault, clock, by }, body),
  });
}
