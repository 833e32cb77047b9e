import { type Static, Type } from "typebox";
import { RULE_KINDS, type RuleKind } from "../../domain/attribution/rule-fields.ts";
import { choice, table } from "../fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });
const adPlatform = (description: string) => Type.Optional(Type.String({ description, maxLength: 200 }));

/** Rules by name, each as text: `{"click_window": "3d", "impressions": "on"}`. */
const rules = table("Rules by name; `cli rules set --help` lists them");

export const rulesBody = Type.Object({
  app_id: appId,
  ad_platform: adPlatform("Only for this platform; absent or empty: for the whole app"),
  rules,
});
export type RulesBody = Static<typeof rulesBody>;

export const whatIfBody = Type.Object({
  app_id: appId,
  from: day("First local day"),
  to: day("Last local day"),
  ad_platform: adPlatform(
    "Tries the rules as if set for this platform or, when empty, for the whole app; absent: they override all settings",
  ),
  rules,
});
export type WhatIfBody = Static<typeof whatIfBody>;

const ruleField = Type.Object({
  name: Type.String(),
  takes: choice<RuleKind>(RULE_KINDS, "Form of the value: `7d`, `on`, `30`, or networks separated by commas"),
  hint: Type.String({ description: "What it means" }),
  app_only: Type.Boolean({ description: "Only for the whole app, not for one platform" }),
  triable: Type.Boolean({ description: "Whether what-if can try it on decisions already made" }),
});
export type ShownRuleField = Static<typeof ruleField>;

export const ruleSettings = Type.Object({
  fields: Type.Array(ruleField),
  defaults: table("Values used when nothing is set"),
  set: Type.Array(
    Type.Object({
      ad_platform: Type.String({ description: "Empty: the whole app" }),
      rules: table("Rules that are set"),
    }),
  ),
  ad_platforms: Type.Array(Type.String(), {
    description: "Platforms that rules can be set for; others can be named too",
  }),
});
export type ShownRuleSettings = Static<typeof ruleSettings>;

const count = (description: string) => Type.Integer({ description });

export const whatIfAnswer = Type.Object({
  decisions: count("Registrations that were decided again"),
  moved: count("Registrations that would move to another source"),
  moved_revenue_cents: count(
    "Revenue of these so far, as reports count it: less refunds, with reported, pulled or estimated ad revenue",
  ),
  rows: Type.Array(
    Type.Object({
      ad_platform: Type.String(),
      campaign: Type.String(),
      users: count("Users now"),
      users_then: count("Users under the tried rules"),
      gained: count("Users who would be added"),
      lost: count("Users who would be lost"),
      revenue_cents: count("Revenue now"),
      revenue_then_cents: count("Revenue under the tried rules"),
    }),
  ),
});
export type WhatIfAnswer = Static<typeof whatIfAnswer>;
