import type { FastifyInstance } from "fastify";
import { addRule, changeRule, dropRule, orderRules } from "../../../admin/setting/postback-rules.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { emptyData, envelopeSchema } from "../../../contract/envelope.ts";
import {
  dryRunAnswer,
  dryRunBody,
  ruleAnswer,
  ruleChangeBody,
  ruleCreateBody,
  ruleListAnswer,
  ruleOrderBody,
  ruleRemoveBody,
} from "../../../contract/setting/postback.ts";
import { readDays } from "../../../domain/postback/postback-request.ts";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import { dryRun } from "../../../postback/dry-run.ts";
import { listRules, shownRule, triedRule } from "../../../postback/rules.ts";
import { adminRoute } from "../admin-route.ts";
import type { SettingContext } from "./setting-context.ts";

/** Postback rules: which conversions are reported to which platform. */
export function postbackRuleRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock } = context;

  adminRoute(routes, {
    path: "postback/rules",
    summary: "Postback rules of an app",
    access: "detail",
    query: appIdQuery,
    answer: ruleListAnswer,
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return { rules: await listRules(pool, appId) };
    },
  });

  adminRoute(routes, {
    path: "postback/rules/create",
    summary: "Add a postback rule",
    description: "It comes after the existing rules.",
    access: "setting",
    body: ruleCreateBody,
    answer: ruleAnswer,
    run: async ({ body, by }) => addRule({ pool, vault, clock, by }, body),
  });

  adminRoute(routes, {
    path: "postback/rules/edit",
    summary: "Change a postback rule",
    description: "Absent fields stay as they are. `properties` replaces all conditions; an empty list removes them.",
    access: "setting",
    body: ruleChangeBody,
    answer: ruleAnswer,
    run: async ({ body, by }) => changeRule({ pool, vault, clock, by }, body),
  });

  adminRoute(routes, {
    path: "postback/rules/remove",
    summary: "Remove a postback rule",
    access: "setting",
    body: ruleRemoveBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body, by }) => {
      await dropRule({ pool, vault, clock, by }, body);
      return {};
    },
  });

  orderRoute(routes, context);
  dryRunRoute(routes, context);
}

function orderRoute(
  routes: FastifyInstance,
  { pool, vault, clock }: Pick<SettingContext, "pool" | "vault" | "clock">,
): void {
  adminRoute(routes, {
    path: "postback/rules/order",
    summary: "Put the postback rules of an app in order",
    description: "Among rules for the same moment, event type, platform and campaign, the first match counts.",
    access: "setting",
    body: ruleOrderBody,
    answer: ruleListAnswer,
    run: async ({ body, by }) => ({ rules: await orderRules({ pool, vault, clock, by }, body) }),
  });
}

function dryRunRoute(routes: FastifyInstance, context: SettingContext): void {
  const running = { dryRuns: 0 };

  adminRoute(routes, {
    path: "postback/dry-run",
    summary: "Try a rule on past data, without sending anything",
    description:
      "Tries the rule `rule_id`, a rule given by the fields of a new one, or `rule_id` with some fields changed. The rule " +
      "is judged alone, as if it had always existed; every platform that takes postbacks counts as having an account.",
    access: "detail",
    body: dryRunBody,
    answer: dryRunAnswer,
    run: async ({ body, request }) => {
      const app = await context.apps.findById(body.app_id);
      const days = readDays(body);
      const rule = await triedRule(context.pool, app.appId, { ruleId: body.rule_id, given: body });
      if (running.dryRuns >= LIMITS.dryRunsAtOnce) {
        throw new ApiError("overloaded", "Another dry run is in progress; try again later.", { retryAfterS: 10 });
      }
      running.dryRuns += 1;
      try {
        const isUnwanted = () => request.raw.socket.destroyed;
        const { from, to } = body;
        const result = await context.reads.readWithDays(({ pool, cold }) =>
          dryRun(pool, app, rule, { days, isUnwanted, cold }),
        );
        return { rule: shownRule(rule), from, to, ...result };
      } finally {
        running.dryRuns -= 1;
      }
    },
  });
}
