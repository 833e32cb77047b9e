import { type Static, Type } from "typebox";
import { OUTCOMES } from "../../domain/attribution/attribution.ts";
import { FLAGS } from "../../domain/attribution/fraud.ts";
import { METHODS } from "../../domain/attribution/method.ts";
import { TOUCH_KINDS } from "../../domain/attribution/touch.ts";
import type { JsonObject } from "../../domain/json.ts";
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
  touched_at: text("Time of the touch; empty: none is known"),
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
  ad_data: json("What the platform handed over"),
});

export const userView = Type.Object({
  record: userRecord,
  time_zone: text("In which all times are"),
  currency: text("In which all amounts are"),
  is_registered: Type.Boolean({ description: "False for a client that has only sent events" }),
  is_history: Type.Boolean({ description: "Brought over from another system" }),
  wx_unionid: Type.String(),
  os_platform: Type.String(),
  ip: text("Address at the registration"),
  ua: text("User agent at the registration"),
  latest_event_at: text("Empty: no event is stored"),
  source,
  device: Type.Union([Type.Null(), json("Every id and name of the device; empty texts where there is none")]),
  properties: json("Properties of the user"),
  counts: Type.Object({
    track_events: Type.Integer(),
    active_days: Type.Integer(),
    postbacks: Type.Array(Type.Integer(), { description: "By status: waiting, accepted, given up, skipped" }),
  }),
});
export type UserView = Static<typeof userView>;
export const userViewAnswer = envelopeSchema(userView);

/** In the order in which things of the same instant are shown: what follows from another thing stands above it. */
export const TIMELINE_KINDS = ["postback", "order", "event", "return", "registration", "touch"] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

export const timelineQuery = Type.Object({
  app_id: appId,
  client_id: clientId,
  kinds: Type.Optional(text(`Only these, with commas between them: ${TIMELINE_KINDS.join(", ")}`)),
  event: Type.Optional(text("Only events of this name, and nothing else")),
  before: Type.Optional(Type.String({ maxLength: 4_096, description: "`next` of the page before" })),
  limit: Type.Optional(text(`At most so many, up to ${LIMITS.timelineRows}; 50 without it`)),
});

const item = <Kind extends TimelineKind, const Fields extends Record<string, Type.TSchema>>(
  kind: Kind,
  fields: Fields,
) => Type.Object({ kind: Type.Literal(kind), at: Type.String(), at_ms: Type.Integer(), ...fields });

const decided = { ad_platform: text("Empty: organic"), method, number: Type.Integer(), campaign: Type.String() };

export const timelineItem = Type.Union([
  item("postback", {
    event_type: text("`$attribution` and `$event` are the app's own callbacks"),
    subject: Type.String(),
    ad_platform: Type.String(),
    moment: Type.String(),
    trace_id: text("The order that it is about; empty: none"),
    status: Type.Integer({ description: "0 waiting, 1 accepted, 2 given up, 3 skipped" }),
    reason: Type.String(),
    attempts: Type.Integer(),
    resent: Type.Integer(),
    value_cents: Type.Unsafe<number | null>({ type: ["integer", "null"] }),
    back_cents: Type.Integer(),
    changed_at: Type.String(),
  }),
  item("order", {
    trace_id: Type.String(),
    cents: Type.Integer(),
    pay_count: Type.Integer({ description: "The how-manieth payment of the user" }),
    is_virtual: Type.Integer(),
    postback_status: Type.Integer(),
    back_cents: Type.Integer(),
    properties: json("Of the payment"),
  }),
  item("event", {
    id: text("Tells events of the same instant apart"),
    type: oneOf(["track", "profile"], "What it is about"),
    event: text("Its name"),
    properties: json("As stored"),
    received_at: Type.String(),
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
    outcome: oneOf([...OUTCOMES, ""], "How it fared in the latest decision that knew it; empty: none did"),
    flags: Type.Array(oneOf(FLAGS, "What speaks against it")),
  }),
]);
export type TimelineItem = Static<typeof timelineItem>;

export const timeline = Type.Object({
  items: Type.Array(timelineItem, { description: "The newest first" }),
  next: Type.Unsafe<string | null>({
    type: ["string", "null"],
    description: "`before` of the next page; null: it ends",
  }),
});
export type Timeline = Static<typeof timeline>;
export const timelineAnswer = envelopeSchema(timeline);

export const userSearchQuery = Type.Object({
  app_id: appId,
  q: Type.String({
    minLength: 1,
    maxLength: 512,
    description:
      "Client id or how it begins, open id, union id, order id, click id, or an id of the device, plain or as its md5",
  }),
});

export const userSearch = Type.Object({
  users: Type.Array(
    Type.Object({
      client_id: Type.String(),
      found_by: Type.Array(Type.String(), { description: "Which of the ids are the one asked for" }),
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
  state: oneOf(["erased", "accepted"], "`accepted`: the tables are filled by another process, or are far behind"),
});
export type Erased = Static<typeof erasure>;
export const eraseAnswer = envelopeSchema(erasure);
