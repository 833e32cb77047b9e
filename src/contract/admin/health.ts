import { type Static, Type } from "typebox";
import { HEALTH_PROBLEMS, type HealthProblem, type HealthState } from "../../domain/health.ts";
import { LEDGER_STEPS, type LedgerStep } from "../../domain/ledger.ts";
import { REFUSALS, type Refusal } from "../../domain/refusal.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice } from "../fields.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const intake = Type.Object({
  obstacle: Type.String({ description: "Why new data is refused; the empty text where it is taken in" }),
  backlog_bytes: count("Of the journal, not applied yet"),
  backlog_bytes_max: count("Beyond it new data is refused"),
  backlog_entries: orNull(count("Null while entries of an earlier process wait")),
  durable_bytes: count("Position up to which the journal is on the disk"),
  applied_bytes: count("Position up to which it is in the tables"),
  apply_lag_ms: count("How far the tables are behind what was acknowledged"),
  apply_obstacle: Type.String({
    description: "Why what is taken in does not reach the tables; the empty text where it does",
  }),
});

const disk = Type.Object({
  free_bytes: count("Where the journal is"),
  free_bytes_min: count("Below it new data is refused"),
});

const database = Type.Object({
  kind: choice(["embedded", "external"] as const, "Started and stopped by this server, or by somebody else"),
  version: Type.String(),
  bytes: count("Size of all tables and indexes"),
  cube_slices_waiting: count("Days of reports that are to be counted again"),
  cube_age_ms: count("How old what the ad report shows can be"),
  set_aside: count("Journal entries that could not be understood"),
});

const lane = Type.Object({
  app_id: Type.Integer(),
  to: Type.String({ description: "Platform and account, or `$attribution`, `$event`: the app's own callbacks" }),
  waiting: count("Postbacks"),
  in_flight: count("Being sent"),
  first_due_at: Type.String({ description: "In the app's time zone" }),
  paused_until: Type.String({ description: "Whoever is there is down, and is left alone until then; empty: not so" }),
  failures: count("Calls in a row that have failed before that"),
});

const account = Type.Object({
  app_id: Type.Integer(),
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  postbacks: Type.String({ description: "on, off" }),
  costs: Type.String({ description: "on, off" }),
  last_error: Type.String({ description: "The empty text: nothing went wrong" }),
  last_error_at: Type.String(),
});

const costPull = Type.Object({
  app_id: Type.Integer(),
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  last_pull: Type.String({ description: "In the app's time zone; the empty text: never" }),
  last_attempt: Type.String(),
  settled_until: Type.String({ description: "Days up to this one are final" }),
  failures: count("In a row"),
  error: Type.String({ description: "Of the last attempt; the empty text: none" }),
});

const orderWithoutRate = Type.Object({
  app_id: Type.Integer(),
  currency: Type.String(),
  orders: count("Listed with amount 0"),
  amount: Type.Integer({ description: "As sent, in the minor unit of that currency" }),
  is_rate_set: Type.Boolean({ description: "There is a rate by now; it holds for later orders" }),
});

const refused = Type.Object({
  app_id: Type.Integer({ description: "0: of no app" }),
  reason: choice<Refusal>(REFUSALS, "What there was too much of"),
  calls: count("Refused with 2003 since the start of this process"),
  last_at_ms: Type.Integer(),
});

export const healthAnswer = Type.Object({
  state: choice(["good", "troubled", "refusing"] as const satisfies readonly HealthState[], "refusing: new data is"),
  problems: Type.Array(choice<HealthProblem>(HEALTH_PROBLEMS, "What to look at, the worst first")),
  now_ms: Type.Integer(),
  version: Type.String(),
  started_at_ms: Type.Integer(),
  roles: Type.Array(Type.String()),
  memory_bytes: count("Resident"),
  live_watchers: count("Open live streams"),
  intake,
  disk,
  refused: Type.Array(refused),
  database: orNull(database),
  lanes: Type.Array(lane),
  accounts: Type.Array(account),
  cost_pulls: Type.Array(costPull),
  orders_without_rate: Type.Array(orderWithoutRate),
});
export type HealthAnswer = Static<typeof healthAnswer>;
export const healthEnvelope = envelopeSchema(healthAnswer);

export const ledgerQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  of: Type.Optional(choice(["events", "touches"] as const, "Each has a ledger of its own")),
  step: Type.Optional(choice<LedgerStep>(LEDGER_STEPS, "Of the app's local clock; `minute` without it")),
  minutes: Type.Optional(
    Type.String({
      pattern: "^[1-9]\\d{0,6}$",
      description: "The last so many minutes; 60 without it and without from",
    }),
  ),
  from: Type.Optional(Type.String({ maxLength: 19, description: "First local day, or second" })),
  to: Type.Optional(Type.String({ maxLength: 19, description: "Last local day, or second" })),
});

const outcomes = {
  received: count("Of requests that were not refused as a whole"),
  stored: count("New, and in the tables"),
  duplicate: count("Known already"),
  rejected: Type.Unsafe<Record<string, number>>({
    type: "object",
    additionalProperties: { type: "integer", minimum: 0 },
    description: "By reason",
  }),
};

export const ledgerAnswer = Type.Object({
  of: Type.String(),
  step: Type.String(),
  time_zone: Type.String(),
  from_ms: Type.Integer(),
  until_ms: Type.Integer({ description: "Not included" }),
  steps: Type.Array(Type.Object({ at_ms: Type.Integer({ description: "Its begin" }), ...outcomes }), {
    description: `In the order of time, with those in which nothing came; at most ${LIMITS.ledgerSteps}`,
  }),
  total: Type.Object(outcomes),
  adds_up: Type.Boolean({ description: "received = stored + duplicate + rejected, in every step" }),
});
export type LedgerAnswer = Static<typeof ledgerAnswer>;
export const ledgerEnvelope = envelopeSchema(ledgerAnswer);

export const setAsideQuery = Type.Object({
  app_id: Type.Optional(Type.String({ pattern: "^\\d{1,10}$", description: "Only of this app" })),
  before: Type.Optional(Type.String({ pattern: "^\\d{1,15}$", description: "Only entries before this one" })),
});

const setAsideEntry = Type.Object({
  id: Type.Integer(),
  state: Type.String({ description: "waiting, or requested: to be taken in again" }),
  reason: Type.String(),
  app_id: orNull(Type.Integer({ description: "Null where the bytes do not say" })),
  received_at_ms: orNull(Type.Integer()),
  from: Type.Integer({ description: "Position in the journal" }),
  bytes: count("Whole size"),
  kind: Type.String({ description: "`collect`, `register` …; the empty text where the bytes are no entry" }),
  client_id: Type.String(),
  body: Type.String({
    description: `The beginning of what was received, at most ${LIMITS.setAsideShownBytes} bytes; hex where it is no text`,
  }),
  is_cut: Type.Boolean({ description: "Whether there is more than its beginning" }),
});

export const setAsideAnswer = Type.Object({
  entries: Type.Array(setAsideEntry, { description: `The newest first, at most ${LIMITS.setAsidePage}` }),
  has_more: Type.Boolean(),
  total: count("Of all apps"),
});
export type SetAsideAnswer = Static<typeof setAsideAnswer>;
export const setAsideEnvelope = envelopeSchema(setAsideAnswer);

export const replayBody = Type.Object({
  ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      minItems: 1,
      maxItems: LIMITS.setAsideListed,
      description: "Only these; without it, everything that is set aside",
    }),
  ),
});

export const replayAnswer = Type.Object({ requested: count("So many entries are taken in again between two batches") });
export type ReplayAnswer = Static<typeof replayAnswer>;
export const replayEnvelope = envelopeSchema(replayAnswer);
