import { type Static, Type } from "typebox";
import type { PRESET_MOMENTS } from "../../domain/postback/moment-name.ts";
import { type POSTBACK_STATUS, POSTBACK_STATUS_LIST } from "../../domain/postback/postback.ts";
import type { ResendRefusal } from "../../domain/postback/postback-request.ts";
import { POSTBACK_RULE_FIELDS } from "../../domain/postback/postback-rule-fields.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { clientId } from "../fields.ts";

export type { PostbackEventType } from "../../domain/postback/postback.ts";
export type { ResendRefusal } from "../../domain/postback/postback-request.ts";
export type { SkipReason } from "../../domain/postback/postback-rule.ts";
export type PresetMoment = (typeof PRESET_MOMENTS)[number];

const appId = Type.Integer({ description: "Application id", minimum: 1 });
const appIdText = Type.String({ pattern: "^\\d{1,10}$", description: "Application id" });
const ruleId = Type.Integer({ description: "The rule", minimum: 1, maximum: LIMITS.tableInteger });
const text = (description: string) => Type.Optional(Type.String({ description, maxLength: 200 }));
const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });

const ruleText = (hint: string, lengthMin: number) =>
  Type.String({ description: hint.charAt(0).toUpperCase() + hint.slice(1), minLength: lengthMin, maxLength: 200 });

const isNeeded = (name: string) => name === "moment" || name === "event_type";

/** The parts of a rule, each as a text in the form that the command line takes. */
const ruleFields: Record<string, Type.TSchema> = {
  ...Object.fromEntries(POSTBACK_RULE_FIELDS.map(({ name, hint }) => [name, Type.Optional(ruleText(hint, 0))])),
  properties: Type.Optional(
    Type.Unsafe<unknown[]>({
      type: "array",
      items: { type: ["string", "object"] },
      maxItems: LIMITS.propertyTestsPerRule,
      description:
        'Conditions that must all hold: `event$product equal "gold"`, or objects of field, operator and values',
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

export const ruleOrderBody = Type.Object({
  app_id: appId,
  rule_ids: Type.Array(ruleId, {
    maxItems: LIMITS.rulesPerApp,
    description: "All rules of the app; among rules for the same conversion, the first match counts",
  }),
});

export const dryRunBody = Type.Object({
  app_id: appId,
  from: day("First local day"),
  to: day("Last local day"),
  rule_id: Type.Optional(ruleId),
  ...ruleFields,
});

export const postbackListQuery = Type.Object({
  app_id: appIdText,
  status: text(`Only this status: ${POSTBACK_STATUS_LIST}`),
  ad_platform: text("Only postbacks to this platform"),
  event_type: text("Only postbacks of this event type; `$attribution` and `$event` are the app's own callbacks"),
  client_id: text("Only postbacks of this client"),
  after: Type.Optional(Type.String({ description: "`next` of the previous page", maxLength: 2_000 })),
  limit: text(`Most postbacks to list, up to ${LIMITS.postbacksListed}; default 50`),
});

export const postbackStatusQuery = Type.Object({ app_id: Type.Optional(appIdText) });

export const recentPostbacksQuery = Type.Object({ app_id: appIdText });

export const resendBody = Type.Object({
  app_id: appId,
  client_id: Type.Optional(clientId({ description: "All postbacks of this client" })),
  event_type: text("With client_id: only of this event type"),
  trace_id: Type.Optional(
    Type.Unsafe<string | number>({ type: ["string", "number"], description: "With client_id: only about this order" }),
  ),
  status: Type.Optional(Type.Integer({ description: "All postbacks with this status: 2 failed, 3 skipped" })),
  reason: text("With status: only with this reason; part of a sentence is enough"),
  ad_platform: text("With status: only to this platform"),
  from: text("With status: happened on this local day or later"),
  to: text("With status: happened on this local day or earlier"),
  postbacks: Type.Optional(
    Type.Array(
      Type.Object({
        client_id: clientId(),
        event_type: Type.String({ maxLength: 200 }),
        subject: Type.String({ maxLength: 200, description: "As the list shows it" }),
      }),
      { minItems: 1, maxItems: LIMITS.postbacksSelected, description: "Only these, instead of client_id and status" },
    ),
  ),
});

const rule = Type.Object({
  rule_id: Type.Integer(),
  ad_platform: Type.String(),
  turbo_promoted_object_id: Type.String(),
  moment: Type.String(),
  event_type: Type.String(),
  code: Type.String(),
  amount: Type.String(),
  count: Type.String(),
  days_since_touch: Type.String(),
  share: Type.String(),
  value: Type.String(),
  window: Type.String(),
  enabled: Type.Unsafe<string>({ type: "string", enum: ["on", "off"] }),
  properties: Type.Array(Type.String()),
});
export type PostbackRule = Static<typeof rule>;

const ruleList = Type.Object({ rules: Type.Array(rule, { description: "In the order in which they are tried" }) });
export type PostbackRuleList = Static<typeof ruleList>;

const countsBy = <Reason extends string>() =>
  Type.Unsafe<Partial<Record<Reason, number>>>({
    type: "object",
    additionalProperties: { type: "integer" },
    description: "Number by reason",
  });

const dryRunCounts = {
  sent: Type.Integer({ description: "Number of postbacks that would have been sent" }),
  amount_cents: Type.Integer({ description: "Sum of the amounts in them" }),
  skipped: Type.Integer(),
};

const dryRun = Type.Object({
  rule,
  from: Type.String(),
  to: Type.String(),
  users: Type.Integer({ description: "Number of users examined" }),
  ...dryRunCounts,
  platforms: Type.Array(Type.Object({ ad_platform: Type.String(), ...dryRunCounts, reasons: countsBy<string>() })),
});
export type DryRun = Static<typeof dryRun>;

/** The numbers of the statuses, by name. */
export type PostbackStatuses = typeof POSTBACK_STATUS;

const status = {
  status: Type.Integer({ description: POSTBACK_STATUS_LIST }),
  status_text: Type.String({ description: "waiting, accepted, given up (failed) or skipped" }),
};

const postback = Type.Object({
  client_id: Type.String(),
  event_type: Type.String({ description: "`$attribution` and `$event` are the app's own callbacks" }),
  subject: Type.String({ description: "What it concerns: an order, a day, or the user as such" }),
  trace_id: Type.String(),
  ad_platform: Type.String(),
  moment: Type.String(),
  rule_id: Type.Integer({ description: "0: no rule" }),
  ...status,
  reason: Type.String({ description: "A sentence, or a name such as `share`; empty when it was accepted" }),
  attempts: Type.Integer(),
  resent: Type.Integer({ description: "How often it was requested again" }),
  value_cents: Type.Unsafe<number | null>({ type: ["integer", "null"], description: "Amount to send" }),
  back_cents: Type.Integer({ description: "Amount that was sent" }),
  refunded_cents: Type.Integer({ description: "Amount of its order that was paid back; 0: none" }),
  refunded_at: Type.String({ description: "When last, in the app's zone; empty: never" }),
  at: Type.String({ description: "When it happened, in the app's zone" }),
  changed_at: Type.String(),
});
export type Postback = Static<typeof postback>;

const postbackList = Type.Object({
  postbacks: Type.Array(postback),
  next: Type.String({ description: "`after` of the next page; empty: there is none" }),
});
export type PostbackList = Static<typeof postbackList>;

const recentPostbacks = Type.Object({
  hours: Type.Integer({ description: "Number of hours covered" }),
  statuses: Type.Array(Type.Object({ ...status, postbacks: Type.Integer() })),
  reasons: Type.Array(
    Type.Object({ ...status, ad_platform: Type.String(), reason: Type.String(), postbacks: Type.Integer() }),
    { description: "Reasons for not sending, the most frequent first" },
  ),
});
export type RecentPostbacks = Static<typeof recentPostbacks>;

const lane = Type.Object({
  app_id: Type.Integer(),
  to: Type.String({ description: "Platform and advertiser, or `$attribution`, `$event`" }),
  waiting: Type.Integer(),
  in_flight: Type.Integer(),
  first_due_at: Type.String(),
  paused_until: Type.String({
    description: "The receiver is down, and nothing is sent to it until then; empty: not paused",
  }),
  failures: Type.Integer({ description: "Failed calls in a row" }),
});
export type PostbackLane = Static<typeof lane>;

const onOff = Type.Unsafe<"on" | "off">({ type: "string", enum: ["on", "off"] });

const postbackState = Type.Object({
  lanes: Type.Array(lane, { description: "Lanes in which something waits" }),
  accounts: Type.Array(
    Type.Object({
      app_id: Type.Integer(),
      ad_platform: Type.String(),
      advertiser_id: Type.String(),
      postbacks: onOff,
      costs: onOff,
      last_error: Type.String(),
      last_error_at: Type.String(),
    }),
  ),
});
export type PostbackState = Static<typeof postbackState>;

const resent = Type.Object({
  taken: Type.Integer({ description: "Number of postbacks that are sent again" }),
  refused: countsBy<ResendRefusal>(),
  has_more: Type.Boolean({ description: "Whether there are more: call again for the rest" }),
});
export type Resent = Static<typeof resent>;

export const ruleAnswer = envelopeSchema(rule);
export const ruleListAnswer = envelopeSchema(ruleList);
export const dryRunAnswer = envelopeSchema(dryRun);
export const postbackListAnswer = envelopeSchema(postbackList);
export const recentPostbacksAnswer = envelopeSchema(recentPostbacks);
export const postbackStateAnswer = envelopeSchema(postbackState);
export const resentAnswer = envelopeSchema(resent);
