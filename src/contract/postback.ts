import { Type } from "typebox";
import { LIMITS } from "../config.ts";
import { POSTBACK_RULE_FIELDS } from "../domain/postback-rule-fields.ts";
import { clientId, TABLE_INTEGER_MAX } from "./fields.ts";

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const appIdText = Type.String({ pattern: "^\\d{1,10}$", description: "Application id" });
const ruleId = Type.Integer({ description: "The rule", minimum: 1, maximum: TABLE_INTEGER_MAX });
const text = (description: string) => Type.Optional(Type.String({ description, maxLength: 200 }));
const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });

const ruleText = (hint: string, lengthMin: number) =>
  Type.String({ description: hint.charAt(0).toUpperCase() + hint.slice(1), minLength: lengthMin, maxLength: 200 });

const isNeeded = (name: string) => name === "moment" || name === "event_type";

/** Each part of a rule as the text that the command line takes. */
const ruleFields: Record<string, Type.TSchema> = {
  ...Object.fromEntries(POSTBACK_RULE_FIELDS.map(({ name, hint }) => [name, Type.Optional(ruleText(hint, 0))])),
  properties: Type.Optional(
    Type.Unsafe<unknown[]>({
      ...{ type: "array", items: { type: ["string", "object"] }, maxItems: LIMITS.propertyTestsPerRule },
      description: 'Tests that must all hold: `event$product equal "gold"`, or objects of field, operator and values',
    }),
  ),
};

export const ruleCreateBody = Type.Object({
  app_id: appId,
  ...Object.fromEntries(
    POSTBACK_RULE_FIELDS.filter(({ name }) => isNeeded(name)).map(({ name, hint }) => [name, ruleText(hint, 1)]),
  ),
  ...Object.fromEntries(Object.entries(ruleFields).filter(([name]) => !isNeeded(name))),
});

export const ruleChangeBody = Type.Object({ app_id: appId, rule_id: ruleId, ...ruleFields });

export const ruleRemoveBody = Type.Object({ app_id: appId, rule_id: ruleId });

export const dryRunBody = Type.Object({
  app_id: appId,
  from: day("First local day"),
  to: day("Last local day"),
  rule_id: Type.Optional(ruleId),
  ...ruleFields,
});

export const postbackListQuery = Type.Object({
  app_id: appIdText,
  status: text("Only this status: 0 waiting, 1 accepted, 2 given up, 3 skipped"),
  ad_platform: text("Only to this platform"),
  event_type: text("Only of this event type; `$attribution` and `$event` are the app's own callbacks"),
  client_id: text("Only of this client"),
  limit: text(`At most so many, up to ${LIMITS.postbacksListed}; 50 without it`),
});

export const postbackStatusQuery = Type.Object({ app_id: Type.Optional(appIdText) });

export const resendBody = Type.Object({
  app_id: appId,
  client_id: Type.Optional(clientId({ description: "All postbacks of this client" })),
  event_type: text("With client_id: only of this event type"),
  trace_id: Type.Optional(
    Type.Unsafe<string | number>({ type: ["string", "number"], description: "With client_id: only about this order" }),
  ),
  status: Type.Optional(Type.Integer({ description: "All that ended so: 2 given up, 3 skipped" })),
  reason: text("With status: only for this reason; of a sentence, a part is enough"),
  ad_platform: text("With status: only to this platform"),
  from: text("With status: happened on this local day or later"),
  to: text("With status: happened on this local day or earlier"),
});
