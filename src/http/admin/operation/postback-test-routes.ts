import type { FastifyInstance } from "fastify";
import { testPostback } from "../../../admin/operation/postback-tests.ts";
import {
  postbackTestAnswer,
  postbackTestBody,
  postbackTestFormAnswer,
  postbackTestQuery,
} from "../../../contract/admin/postback-test.ts";
import { LIMITS } from "../../../limits.ts";
import { TestDesk } from "../../../postback/test-desk.ts";
import { testFormOf } from "../../../postback/test-wish.ts";
import { adminRoute } from "../admin-route.ts";
import { askedConnectors } from "../asked-connectors.ts";
import type { OperationContext } from "./operation-context.ts";

/** Test conversions, as platforms ask for them when an account is set up. */
export function postbackTestRoutes(routes: FastifyInstance, context: OperationContext): void {
  const { pool, vault, clock, config } = context;
  const { postbackDeadlineMs: deadlineMs, platformPrivateNetworks: mayCallPrivate } = config;
  const tests = new TestDesk({ pool, vault, clock, deadlineMs, mayCallPrivate });

  adminRoute(routes, {
    path: "postback/test",
    summary: "What a test conversion needs",
    description: "The keys of a click at the platform, and whether the platform can tell tests from real conversions.",
    access: "detail",
    apps: "some",
    query: postbackTestQuery,
    answer: postbackTestFormAnswer,
    run: async ({ query }) => testFormOf(query.ad_platform, await askedConnectors(context, query)),
  });

  adminRoute(routes, {
    path: "postback/test",
    summary: "Send one test conversion now, and see the call",
    description:
      "Of a user (`client_id`) or of a click (`click`, `device`), through one account, with the request that a real " +
      "postback would send. It is not stored, counted or sent again, and has an id that no real conversion has. A " +
      "platform without a mark of tests counts it like a real one. One at a time per app.",
    access: "operate",
    body: postbackTestBody,
    reading: { bytesMax: LIMITS.settingsBodyBytes, numbersAreIds: true },
    answer: postbackTestAnswer,
    run: async ({ body, by }) => testPostback({ pool, vault, clock, by, tests, mayCallPrivate }, body),
  });
}
