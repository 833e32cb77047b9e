import type { FastifyInstance } from "fastify";
import { readGivenRules, readRulePlatform, setRules } from "../../../admin/setting/attribution-rules.ts";
import { appIdQuery } from "../../../contract/admin/admin.ts";
import { envelopeSchema } from "../../../contract/envelope.ts";
import {
  ruleSettings,
  rulesBody,
  type ShownRuleSettings,
  type WhatIfBody,
  whatIfAnswer,
  whatIfBody,
} from "../../../contract/setting/attribution-rule.ts";
import { type AppRuleSettings, loadRuleSettings } from "../../../db/attribution-setting.ts";
import {
  DEFAULT_RULE_TEXTS,
  isAppOnly,
  isTriable,
  notTriable,
  RULE_FIELDS,
  ruleTexts,
} from "../../../domain/attribution/rule-fields.ts";
import { ApiError } from "../../../errors.ts";
import { PLATFORM_NAMES } from "../../../platform/registry.ts";
import { type TriedRules, whatIf } from "../../../report/attribution/what-if.ts";
import { adminRoute } from "../admin-route.ts";
import { daysOf } from "../day-range.ts";
import type { SettingContext } from "./setting-context.ts";

/** The rules by which an app's users are attributed, and what other rules would change. */
export function attributionRuleRoutes(routes: FastifyInstance, context: SettingContext): void {
  const { pool, vault, apps, clock } = context;

  adminRoute(routes, {
    path: "attribution/rules",
    summary: "Attribution rules",
    access: "detail",
    query: appIdQuery,
    answer: envelopeSchema(ruleSettings),
    run: async ({ query }) => {
      const { appId } = await apps.findById(Number(query.app_id));
      return shown(await loadRuleSettings(pool, [appId]));
    },
  });

  adminRoute(routes, {
    path: "attribution/rules",
    summary: "Set the rules of an app, or of one platform",
    description: "Replaces all rules set before for the same app and platform.",
    access: "setting",
    body: rulesBody,
    answer: envelopeSchema(ruleSettings),
    run: async ({ body, by }) => shown(await setRules({ pool, vault, clock, by }, body)),
  });

  adminRoute(routes, {
    path: "attribution/what-if",
    summary: "Registrations decided again under other rules, without changing anything",
    access: "detail",
    body: whatIfBody,
    answer: envelopeSchema(whatIfAnswer),
    run: async ({ body }) => {
      const app = await apps.findById(body.app_id);
      return whatIf(pool, app, daysOf(body), triedOf(body));
    },
  });
}

function shown(settings: readonly AppRuleSettings[]): ShownRuleSettings {
  return {
    fields: RULE_FIELDS.map((field) => ({
      name: field.name,
      takes: field.takes,
      hint: field.hint,
      app_only: isAppOnly(field),
      triable: isTriable(field),
    })),
    defaults: DEFAULT_RULE_TEXTS,
    set: settings.map(({ platform, rules }) => ({ ad_platform: platform, rules: ruleTexts(rules) })),
    ad_platforms: [...PLATFORM_NAMES],
  };
}

function triedOf({ rules, ad_platform }: WhatIfBody): TriedRules {
  const bad = Object.keys(rules).find((name) => RULE_FIELDS.some((field) => field.name === name && !isTriable(field)));
  if (bad !== undefined) throw new ApiError("badParameter", notTriable(bad));
  if (ad_platform === undefined) return { kind: "everywhere", rules: readGivenRules(rules, "") };
  const platform = readRulePlatform(ad_platform);
  return { kind: "set", platform, rules: readGivenRules(rules, platform) };
}
