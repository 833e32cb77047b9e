import type { FastifyInstance } from "fastify";
import { resend, withPlatform } from "../../../admin/operation/postbacks.ts";
import {
  postbackListAnswer,
  postbackListQuery,
  postbackStateAnswer,
  postbackStatusQuery,
  recentPostbacksAnswer,
  recentPostbacksQuery,
  resendBody,
  resentAnswer,
} from "../../../contract/setting/postback.ts";
import { appsFor } from "../../../domain/access/role.ts";
import { readList } from "../../../domain/postback/postback-request.ts";
import { LIMITS } from "../../../limits.ts";
import { showPostbacks, showRecent, showState } from "../../../postback/outbox-view.ts";
import { adminRoute } from "../admin-route.ts";
import { stateOf } from "./health.ts";
import type { OperationContext } from "./operation-context.ts";
import { postbackTestRoutes } from "./postback-test-routes.ts";

/** Postbacks: the list, the outbox, sending again, and tests. */
export function postbackRoutes(routes: FastifyInstance, context: OperationContext): void {
  const { pool, vault, apps, clock } = context;

  adminRoute(routes, {
    path: "postbacks",
    summary: "Postbacks of an app, newest first",
    access: "detail",
    query: postbackListQuery,
    answer: postbackListAnswer,
    run: async ({ query }) => {
      const app = await apps.findById(Number(query.app_id));
      return showPostbacks(pool, app, readList(withPlatform(query)));
    },
  });

  adminRoute(routes, {
    path: "postback/recent",
    summary: "Outcomes of the last day's postbacks, with reasons",
    access: "detail",
    query: recentPostbacksQuery,
    answer: recentPostbacksAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return context.reads.read(({ pool }) => showRecent(pool, appId, clock()));
    },
  });

  adminRoute(routes, {
    path: "postback/status",
    summary: "The outbox, and the last error of each account",
    description: "For one app, or for all apps when `app_id` is absent.",
    access: "detail",
    apps: "some",
    query: postbackStatusQuery,
    answer: postbackStateAnswer,
    run: async ({ query, request }) => {
      const app = query.app_id === undefined ? undefined : await apps.findById(Number(query.app_id));
      const state = await showState(pool, vault, { appId: app?.appId, nowMs: clock() });
      return stateOf(state, appsFor(request.actor.grants, "detail"));
    },
  });

  adminRoute(routes, {
    path: "postback/resend",
    summary: "Send failed or skipped postbacks again",
    description:
      "Those of a client, all that ended with a status, or only those named. Postbacks that were accepted or still wait " +
      "are refused and counted. When `has_more` is true, call again for the rest.",
    access: "operate",
    body: resendBody,
    reading: { bytesMax: LIMITS.reportBodyBytes, numbersAreIds: true },
    answer: resentAnswer,
    run: async ({ body, by }) => resend({ pool, vault, clock, by }, body),
  });

  postbackTestRoutes(routes, context);
}
