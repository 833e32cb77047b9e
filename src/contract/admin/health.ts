import { type Static, Type } from "typebox";
import { HEALTH_PROBLEMS, type HealthProblem, type HealthState } from "../../domain/health.ts";
import { LEDGER_STEPS, type LedgerStep } from "../../domain/ledger.ts";
import { REFRESH_STATES } from "../../domain/refresh-state.ts";
import { REFUSALS, type Refusal } from "../../domain/refusal.ts";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { choice } from "../fields.ts";

const count = (description: string) => Type.Integer({ minimum: 0, description });
const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

const intake = Type.Object({
  obstacle: Type.String({ description: "Why new data is refused; empty while it is accepted" }),
  backlog_bytes: count("Bytes of the journal that are not applied yet"),
  backlog_bytes_max: count("New data is refused above this"),
  backlog_entries: orNull(count("Entries not applied yet; null while some were written by an earlier process")),
  durable_bytes: count("Position up to which the journal is on disk"),
  applied_bytes: count("Position up to which it is in the tables"),
  apply_lag_ms: count("How far the tables lag behind acknowledged data"),
  apply_obstacle: Type.String({
    description: "Why accepted data does not reach the tables; empty while it does",
  }),
});

const disk = Type.Object({
  free_bytes: count("Free space on the journal's disk"),
  free_bytes_min: count("New data is refused below this"),
});

const database = Type.Object({
  kind: choice(
    ["embedded", "external"] as const,
    "Whether this server starts and stops the database, or somebody else",
  ),
  version: Type.String(),
  bytes: count("Size of all tables and indexes"),
  cube_slices_waiting: count("Slices of the cube that have to be counted again"),
  cube_age_ms: count("Age of the data in the ad report"),
  set_aside: count("Journal entries that could not be understood"),
});

const replica = Type.Object({
  obstacle: Type.String({ description: "Why the primary serves reports instead; empty while the replica is read" }),
  lag_ms: count("How far the replica is behind the primary; 0 while it is away"),
});

const node = Type.Object({
  node_id: Type.String({ description: "Of its DATA_DIR; stays the same over restarts" }),
  host: Type.String(),
  process_id: Type.Integer(),
  address: Type.String({ description: "Where it listens" }),
  roles: Type.Array(Type.String()),
  version: Type.String(),
  trouble: Type.String({ description: "Why it does not apply what it should; empty: it does" }),
  started_at_ms: Type.Integer(),
  silent_ms: count("Time since its last sign of life; usually below 2,000"),
  is_silent: Type.Boolean({ description: "Whether it has gone without stopping" }),
});

const lane = Type.Object({
  app_id: Type.Integer(),
  to: Type.String({ description: "Platform and account, or `$attribution`, `$event`: the app's own callbacks" }),
  waiting: count("Waiting postbacks"),
  in_flight: count("Postbacks being sent"),
  first_due_at: Type.String({ description: "In the app's time zone" }),
  paused_until: Type.String({
    description: "The receiver is down, and nothing is sent to it until then; empty: not paused",
  }),
  failures: count("Failed calls in a row"),
});

const account = Type.Object({
  app_id: Type.Integer(),
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  postbacks: Type.String({ description: "on, off" }),
  costs: Type.String({ description: "on, off" }),
  last_error: Type.String({ description: "Empty: no error" }),
  last_error_at: Type.String(),
  refresh_expires_at: Type.String({ description: "When the refresh token ends; empty: not known" }),
  refresh_state: choice(REFRESH_STATES, "`ends_soon`: within a week"),
});

const costPull = Type.Object({
  app_id: Type.Integer(),
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  last_pull: Type.String({ description: "In the app's time zone; empty: never" }),
  last_attempt: Type.String(),
  settled_until: Type.String({ description: "Days up to this one are final" }),
  failures: count("Failed attempts in a row"),
  error: Type.String({ description: "Error of the last attempt; empty: none" }),
  reach_days: Type.Union([Type.Integer(), Type.Null()], {
    description: "How many days back the platform's reports reach; null: no limit is known",
  }),
  first_day: Type.String({ description: "The first day that can be pulled; empty: no limit is known" }),
  notes: Type.Array(Type.String(), { description: "Days that never settle, or that do not add up, in sentences" }),
});

const orderWithoutRate = Type.Object({
  app_id: Type.Integer(),
  currency: Type.String(),
  orders: count("Orders listed with amount 0"),
  amount: Type.Integer({ description: "As sent, in the minor unit of that currency" }),
  is_rate_set: Type.Boolean({ description: "A rate has been set since; it applies to later orders" }),
});

const backup = Type.Object({
  last_at_ms: orNull(Type.Integer({ description: "When the newest whole backup was begun; null: there is none" })),
  bytes: count("Its size"),
  next_at_ms: Type.Integer({ description: "When the next one is due" }),
  failure: Type.String({ description: "Why the folder cannot be read, or the last attempt failed; empty: neither" }),
});

const lakePart = {
  failing_ms: count("How long attempts have failed; 0: the last one succeeded"),
  failure: Type.String({ description: "Why the last attempt failed; empty: it did not" }),
  lag_ms: count("How long the oldest change waits"),
};

const lake = Type.Object({
  files: count("Files that count"),
  bytes: count("Their size"),
  waiting_days: count("Days of apps and tables that wait to be written"),
  failing_ms: lakePart.failing_ms,
  failure: lakePart.failure,
  lag_ms: lakePart.lag_ms,
  bucket: orNull(
    Type.Object({
      files: count("Files in the bucket"),
      bytes: count("Their size"),
      waiting_files: count("Files that wait to be uploaded"),
      failing_ms: lakePart.failing_ms,
      failure: lakePart.failure,
      lag_ms: lakePart.lag_ms,
    }),
  ),
});

const refused = Type.Object({
  app_id: Type.Integer({ description: "0: no app" }),
  reason: choice<Refusal>(REFUSALS, "Which limit was exceeded"),
  calls: count("Calls refused with 2003 since this process started"),
  last_at_ms: Type.Integer(),
});

export const healthAnswer = Type.Object({
  state: choice(
    ["good", "troubled", "refusing"] as const satisfies readonly HealthState[],
    "`refusing`: new data is refused",
  ),
  problems: Type.Array(choice<HealthProblem>(HEALTH_PROBLEMS, "What to look at, worst first")),
  now_ms: Type.Integer(),
  version: Type.String(),
  started_at_ms: Type.Integer(),
  roles: Type.Array(Type.String()),
  memory_bytes: count("Resident memory"),
  live_watchers: count("Open live streams"),
  intake,
  disk,
  backup: orNull(backup),
  refused: Type.Array(refused),
  database: orNull(database),
  lake: orNull(lake),
  replica: orNull(replica),
  nodes: Type.Array(node, { description: "The processes of this installation, as of the last hour" }),
  lanes: Type.Array(lane),
  accounts: Type.Array(account),
  cost_pulls: Type.Array(costPull),
  orders_without_rate: Type.Array(orderWithoutRate),
});
export type HealthAnswer = Static<typeof healthAnswer>;
export const healthEnvelope = envelopeSchema(healthAnswer);

export const ledgerQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  of: Type.Optional(choice(["events", "touches"] as const, "Which ledger; default `events`")),
  step: Type.Optional(choice<LedgerStep>(LEDGER_STEPS, "Step of the app's local clock; default `minute`")),
  minutes: Type.Optional(
    Type.String({
      pattern: "^[1-9]\\d{0,6}$",
      description: "The last minutes, this many; default 60 when `from` is absent",
    }),
  ),
  from: Type.Optional(Type.String({ maxLength: 19, description: "First local day, or second" })),
  to: Type.Optional(Type.String({ maxLength: 19, description: "Last local day, or second" })),
});

const outcomes = {
  received: count("Received in requests that were not refused as a whole"),
  stored: count("New, and in the tables"),
  duplicate: count("Already known"),
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
  steps: Type.Array(Type.Object({ at_ms: Type.Integer({ description: "Start of the step" }), ...outcomes }), {
    description: `In order of time, including empty ones; at most ${LIMITS.ledgerSteps}`,
  }),
  total: Type.Object(outcomes),
  adds_up: Type.Boolean({ description: "received = stored + duplicate + rejected, in every step" }),
});
export type LedgerAnswer = Static<typeof ledgerAnswer>;
export const ledgerEnvelope = envelopeSchema(ledgerAnswer);

export const setAsideQuery = Type.Object({
  app_id: Type.Optional(Type.String({ pattern: "^\\d{1,10}$", description: "Only entries of this app" })),
  before: Type.Optional(Type.String({ pattern: "^\\d{1,15}$", description: "Only entries before this one" })),
});

const setAsideEntry = Type.Object({
  id: Type.Integer(),
  state: Type.String({ description: "`waiting`, or `requested`: to be replayed" }),
  reason: Type.String(),
  app_id: orNull(Type.Integer({ description: "Null when the bytes do not say" })),
  received_at_ms: orNull(Type.Integer()),
  from: Type.Integer({ description: "Position in the journal" }),
  bytes: count("Whole size"),
  kind: Type.String({ description: "`collect`, `register` …; empty when the bytes are not an entry" }),
  client_id: Type.String(),
  body: Type.String({
    description: `The beginning of what was received, at most ${LIMITS.setAsideShownBytes} bytes; hex when it is not text`,
  }),
  is_cut: Type.Boolean({ description: "Whether only the beginning is shown" }),
});

export const setAsideAnswer = Type.Object({
  entries: Type.Array(setAsideEntry, { description: `Newest first, at most ${LIMITS.setAsidePage}` }),
  has_more: Type.Boolean(),
  total: count("Entries of all apps of the caller"),
});
export type SetAsideAnswer = Static<typeof setAsideAnswer>;
export const setAsideEnvelope = envelopeSchema(setAsideAnswer);

export const replayBody = Type.Object({
  ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
      minItems: 1,
      maxItems: LIMITS.setAsideListed,
      description: "Only these; absent: everything that is set aside",
    }),
  ),
});

export const replayAnswer = Type.Object({ requested: count("Entries that will be replayed, between two batches") });
export type ReplayAnswer = Static<typeof replayAnswer>;
export const replayEnvelope = envelopeSchema(replayAnswer);
