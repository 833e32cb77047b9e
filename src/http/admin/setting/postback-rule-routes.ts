import type { FastifyInstance } from "fastify";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { emptyData, envelopeSchema, success } from "../../../contract/envelope.ts";
import {
  type DryRun,
  dryRunAnswer,
  dryRunBody,
  type PostbackRule,
  type PostbackRuleList,
  ruleAnswer,
  ruleChangeBody,
  ruleCreateBody,
  ruleListAnswer,
  ruleOrderBody,
  ruleRemoveBody,
} from "../../../contract/setting/postback.ts";
import { readDays } from "../../../domain/postback/postback-request.ts";
import type { GivenRule } from "../../../domain/postback/postback-rule-fields.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import { dryRun } from "../../../postback/dry-run.ts";
import { addRule, changeRule, dropRule, listRules, orderRules, shownRule, triedRule } from "../../../postback/rules.ts";
import type { SettingContext } from "./setting-context.ts";

const BASE = "/admin/api/v1/postback";

type RuleBody = { app_id: number; rule_id: number } & GivenRule;
type DryRunBody = { app_id: number; rule_id?: number; from: string; to: string } & GivenRule;

/** When a platform is told what. */
export function postbackRuleRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, apps, clock } = context;

  routes.get(`${BASE}/rules`, {
    schema: {
      summary: "Postback rules of an app",
      ...{ tags: ["admin"], querystring: appIdQuery, response: { 200: ruleListAnswer } },
    },
    handler: async (request) => {
      const { appId } = await apps.findById(Number((request.query as { app_id: string }).app_id));
      return success({ rules: await listRules(pool, appId) } satisfies PostbackRuleList);
    },
  });

  routes.post(`${BASE}/rules/create`, {
    schema: {
      summary: "Add a postback rule",
      description: "It comes after those that are there.",
      ...{ tags: ["admin"], body: ruleCreateBody, response: { 200: ruleAnswer } },
    },
    handler: async (request) => {
      const body = request.body as RuleBody;
      const { appId } = await apps.findById(body.app_id);
      return success((await addRule(pool, appId, body, clock())) satisfies PostbackRule);
    },
  });

  routes.post(`${BASE}/rules/edit`, {
    schema: {
      summary: "Change a postback rule",
      description: "What is absent stays as it is. `properties` replaces all tests; an empty list takes them away.",
      ...{ tags: ["admin"], body: ruleChangeBody, response: { 200: ruleAnswer } },
    },
    handler: async (request) => {
      const body = request.body as RuleBody;
      const { appId } = await apps.findById(body.app_id);
      const changed = await changeRule(pool, { appId, ruleId: body.rule_id }, body, clock());
      return success(changed satisfies PostbackRule);
    },
  });

  routes.post(`${BASE}/rules/remove`, {
    schema: {
      summary: "Remove a postback rule",
      ...{ tags: ["admin"], body: ruleRemoveBody, response: { 200: envelopeSchema(emptyData) } },
    },
    handler: async (request) => {
      const body = request.body as RuleBody;
      const { appId } = await apps.findById(body.app_id);
      await dropRule(pool, { appId, ruleId: body.rule_id });
      return success({});
    },
  });

  orderRoute(routes, context);
  dryRunRoute(routes, context);
}

function orderRoute(
  routes: FastifyInstance,
  { pool, apps, clock }: Pick<SettingContext, "pool" | "apps" | "clock">,
): void {
  routes.post(`${BASE}/rules/order`, {
    schema: {
      summary: "Put the postback rules of an app in order",
      description: "Of rules for the same moment, event type, platform and campaign, the first one that fits counts.",
      ...{ tags: ["admin"], body: ruleOrderBody, response: { 200: ruleListAnswer } },
    },
    handler: async (request) => {
      const body = request.body as { app_id: number; rule_ids: number[] };
      const { appId } = await apps.findById(body.app_id);
      return success({ rules: await orderRules(pool, appId, body.rule_ids, clock()) } satisfies PostbackRuleList);
    },
  });
}

function dryRunRoute(routes: FastifyInstance, context: SettingContext): void {
  const running = { dryRuns: 0 };

  routes.post(`${BASE}/dry-run`, {
    schema: {
      summary: "A rule tried on the past, without sending anything",
      description:
        "The rule of `rule_id`, or one given by the same fields as a new one, or the first with some fields changed. It is " +
        "judged alone, as if it had always been there; a platform that takes postbacks counts as one with an account.",
      ...{ tags: ["admin"], body: dryRunBody, response: { 200: dryRunAnswer } },
    },
    config: { access: "read" },
    handler: async (request) => {
      const body = request.body as DryRunBody;
      const app = await context.apps.findById(body.app_id);
      const days = readDays(body);
      const pool = context.reportPool();
      const rule = await triedRule(pool, app.appId, { ruleId: body.rule_id, given: body });
      if (running.dryRuns >= LIMITS.dryRunsAtOnce) {
        throw new ApiError("overloaded", "Another rule is being tried; try again.", { retryAfterS: 10 });
      }
      running.dryRuns += 1;
      try {
        const isUnwanted = () => request.raw.socket.destroyed;
        const { from, to } = body;
        const result = await dryRun(pool, app, rule, { days, isUnwanted });
        return success({ rule: shownRule(rule), from, to, ...result } satisfies DryRun);
      } finally {
        running.dryRuns -= 1;
      }
    },
  });
}
