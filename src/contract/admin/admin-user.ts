import { type Static, Type } from "typebox";
import { OUTCOMES } from "../../domain/attribution/attribution.ts";
import { FLAGS } from "../../domain/attribution/fraud.ts";
import { METHODS } from "../../domain/attribution/method.ts";
import { TOUCH_KINDS } from "../../domain/attribution/touch.ts";
import type { JsonObject } from "../../domain/json.ts";
import { POSTBACK_STATUS_LIST } from "../../domain/postback/postback.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { userRecord } from "../report/list-record.ts";

const appId = Type.String({ pattern: "^\\d{1,10}$", description: "Application id" });
const clientId = Type.String({ minLength: 1, maxLength: 128, description: "The id used at registration" });
const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values], description });
const text = (description: string) => Type.String({ description });
const json = (description: string) =>
  Type.Unsafe<JsonObject>({ type: "object", additionalProperties: true, description });
const method = oneOf([...METHODS, "reported", ""], "How the platform was found; empty: organic");

export const userQuery = Type.Object({ app_id: appId, client_id: clientId });

const source = Type.Object({
  ad_platform: text("`natural` for an organic user"),
  method,
  touched_at: text("Time of the touch; empty: unknown"),
  decision_number: Type.Integer({ description: "1: decided on the registration; higher: on a return; 0: undecided" }),
  turbo_promoted_object_id: text("Campaign"),
  campaign_name: Type.String(),
  advertiser_id: text("Account"),
  advertiser_name: Type.String(),
  gid: text("Plan"),
  gid_name: Type.String(),
  aid: text("Ad"),
  aid_name: Type.String(),
  cid: text("Creative"),
  csite: text("Placement"),
  ad_data: json("Data that the platform passed on"),
});

export const userView = Type.Object({
  record: userRecord,
  time_zone: text("Time zone of all times"),
  currency: text("Currency of all amounts"),
  is_registered: Type.Boolean({ description: "False for a client that has only sent events" }),
  is_history: Type.Boolean({ description: "Imported from another system" }),
  wx_unionid: Type.String(),
  os_platform: Type.String(),
  ip: text("Address at the registration"),
  ua: text("User agent at the registration"),
  latest_event_at: text("Time of the latest event; empty: none is stored"),
  source,
  device: Type.Union([Type.Null(), json("Ids and names of the device; empty texts where unknown")]),
  properties: json("Properties of the user"),
  counts: Type.Object({
    track_events: Type.Integer(),
    active_days: Type.Integer(),
    postbacks: Type.Array(Type.Integer(), { description: "Number by status: waiting, accepted, failed, skipped" }),
  }),
});
export type UserView = Static<typeof userView>;
export const userViewAnswer = envelopeSchema(userView);

/** The order of entries at the same instant: an effect is shown above its cause. */
export const TIMELINE_KINDS = ["postback", "refund", "order", "event", "return", "registration", "touch"] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

export const timelineQuery = Type.Object({
  app_id: appId,
  client_id: clientId,
  kinds: Type.Optional(text(`Only these kinds, separated by commas: ${TIMELINE_KINDS.join(", ")}`)),
  event: Type.Optional(text("Only events of this name, and no other kinds")),
  before: Type.Optional(Type.String({ maxLength: 4_096, description: "`next` of the previous page" })),
  limit: Type.Optional(text(`Most items to return, up to ${LIMITS.timelineRows}; default 50`)),
});

const item = <Kind extends TimelineKind, const Fields extends Record<string, Type.TSchema>>(
  kind: Kind,
  fields: Fields,
) => Type.Object({ kind: Type.Literal(kind), at: Type.String(), at_ms: Type.Integer(), ...fields });

const decided = { ad_platform: text("Empty: organic"), method, number: Type.Integer(), campaign: Type.String() };

const refunded = {
  refunded_cents: Type.Integer({ description: "Amount of the order that was paid back; 0: none" }),
  refunded_at: text("When last; empty: never"),
};

export const timelineItem = Type.Union([
  item("postback", {
    event_type: text("`$attribution` and `$event` are the app's own callbacks"),
    subject: Type.String(),
    ad_platform: Type.String(),
    moment: Type.String(),
    trace_id: text("The order it concerns; empty: none"),
    status: Type.Integer({ description: POSTBACK_STATUS_LIST }),
    reason: Type.String(),
    attempts: Type.Integer(),
    resent: Type.Integer(),
    value_cents: Type.Unsafe<number | null>({ type: ["integer", "null"] }),
    back_cents: Type.Integer(),
    ...refunded,
    changed_at: Type.String(),
  }),
  item("refund", {
    refund_id: Type.String(),
    trace_id: text("The order that was paid back"),
    cents: Type.Integer({ description: "Amount that counts: never more than was left of the order" }),
    order_cents: Type.Integer(),
    net_cents: Type.Integer({ description: "What this refund left of the order" }),
    received_at: Type.String(),
  }),
  item("order", {
    trace_id: Type.String(),
    cents: Type.Integer(),
    pay_count: Type.Integer({ description: "Which payment of the user it is, from 1" }),
    is_virtual: Type.Integer(),
    postback_status: Type.Integer(),
    back_cents: Type.Integer(),
    ...refunded,
    net_cents: Type.Integer({ description: "The amount less refunds" }),
    properties: json("Properties of the payment event"),
  }),
  item("event", {
    id: text("Distinguishes events of the same instant"),
    type: oneOf(["track", "profile"], "Kind of event"),
    event: text("Name of the event"),
    properties: json("Properties as stored"),
    received_at: Type.String(),
    ad_revenue: Type.Optional(
      Type.Object(
        {
          origin: oneOf(["reported", "pulled", "estimated"], "Who says so: the client, the platform, or the eCPM"),
          amount: Type.Number({ description: "In major units of the app's currency" }),
        },
        { description: "What a shown ad earned; absent for other events, and when nobody has said anything" },
      ),
    ),
  }),
  item("return", decided),
  item("registration", { ...decided, channel: Type.String(), version: Type.Number(), is_history: Type.Boolean() }),
  item("touch", {
    touch_id: Type.String(),
    touch_kind: oneOf(TOUCH_KINDS, "Click or impression"),
    ad_platform: Type.String(),
    campaign: Type.String(),
    advertiser_id: Type.String(),
    gid: Type.String(),
    aid: Type.String(),
    cid: Type.String(),
    csite: Type.String(),
    outcome: oneOf([...OUTCOMES, ""], "Outcome in the latest decision that considered it; empty: none did"),
    flags: Type.Array(oneOf(FLAGS, "Sign of fraud")),
  }),
]);
export type TimelineItem = Static<typeof timelineItem>;

export const timeline = Type.Object({
  items: Type.Array(timelineItem, { description: "Newest first" }),
  next: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "`before` of the next page; null on the last page",
  }),
});
export type Timeline = Static<typeof timeline>;
export const timelineAnswer = envelopeSchema(timeline);

export const userSearchQuery = Type.Object({
  app_id: appId,
  q: Type.String({
    minLength: 1,
    maxLength: 512,
    description: "Client id or its beginning, open id, union id, order id, click id, or a device id, plain or as md5",
  }),
});

export const userSearch = Type.Object({
  users: Type.Array(
    Type.Object({
      client_id: Type.String(),
      found_by: Type.Array(Type.String(), { description: "Kinds of id by which the user was found" }),
      name: Type.String(),
      registered_at: Type.String(),
      ad_platform: text("`natural` for an organic user"),
      channel: Type.String(),
      pay_cents: Type.Integer(),
    }),
    { description: `At most ${LIMITS.usersFound}` },
  ),
});
export type UserSearch = Static<typeof userSearch>;
export const userSearchAnswer = envelopeSchema(userSearch);

export const erasure = Type.Object({
  client_id: Type.String(),
  state: oneOf(["erased", "accepted"], "`accepted`: another process fills the tables, or they are far behind"),
});
export type Erased = Static<typeof erasure>;
export const eraseAnswer = envelopeSchema(erasure);
