import type { JsonObject } from "../domain/json.ts";
import { appOfLane } from "../domain/postback/postback-book.ts";
import { newRows, rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import type { PostbackKey } from "./postback.ts";

/** A message to send. */
export type NewOutboxRow = PostbackKey & {
  /**
   * The account at a platform, or the app's callback, that the message goes to. A lane has one rate and one circuit
   * breaker.
   */
  lane: string;
  dueAtMs: number;
  /** What the tables do not hold of the message: the winning touch in the platform's field names, or the event. */
  content: JsonObject;
};

/** A row that this process has claimed. `attempts` is the fence: an outcome counts only for its own attempt. */
export type ClaimedRow = PostbackKey & {
  outboxId: number;
  attempts: number;
  /** Whether the previous attempt began but its outcome was never recorded, because its process died. */
  wasInFlight: boolean;
  content: JsonObject;
};

/**
 * Messages that may have been sent before a restore count as begun (`in_flight`), as if their process had died: they are
 * sent again only to receivers that recognise repeats.
 */
export async function insertOutbox(tx: Executor, rows: readonly NewOutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  // Taken beforehand: of a cluster's machines, only the coordinator counts, and only it knows the installation.
  const known = await query<{ outboxId: number; unsureBeforeMs: number }>(
    tx,
    sql`select nextval(pg_get_serial_sequence('outbox', 'outbox_id')) as outbox_id,
        coalesce((select postbacks_unsure_before_ms from installation), 0) as unsure_before_ms
      from generate_series(1, ${rows.length}::int)`,
  );
  const fresh = newRows(tx, "new", rows, {
    outboxId: ["bigint", (_, index) => known[index]!.outboxId],
    appId: "int",
    clientId: "text",
    eventType: "text",
    subject: "text",
    lane: "text",
    dueAtMs: "bigint",
    content: "jsonb",
  });
  await execute(
    tx,
    sql`insert into outbox (outbox_id, app_id, client_id, event_type, subject, lane, due_at_ms, attempts, in_flight, content)
      select outbox_id, app_id, client_id, event_type, subject, lane, due_at_ms, 0,
        due_at_ms < ${known[0]!.unsureBeforeMs}::bigint, content
      from ${fresh}`,
  );
}

/** Makes all waiting messages count as begun. Returns their number. */
export async function doubtOutbox(tx: Executor): Promise<number> {
  return execute(tx, sql`update outbox set in_flight = true where not in_flight`);
}

/** The lanes with something due. In a distributed database, ask about the lanes of one app at a time. */
export async function findDueLanes(executor: Executor, lanes: readonly string[], nowMs: number): Promise<string[]> {
  if (lanes.length === 0) return [];
  const asked = rowsOf("asked", lanes, { appId: ["int", appOfLane], lane: ["text", (lane) => lane] });
  const rows = await query<{ lane: string }>(
    executor,
    sql`select lane from ${asked} where exists (
      select 1 from outbox o where o.app_id = asked.app_id and o.lane = asked.lane and o.due_at_ms <= ${nowMs})`,
  );
  return rows.map((row) => row.lane);
}

/**
 * Makes rows due now that a clock that was ahead, and is right again, has put off: a row that nobody has tried is due at
 * once, and a failed attempt is repeated after `waitMsMax` at most. Claimed rows stay with their holder, whose clock may
 * be the one that is ahead. Such rows are looked for, because apply must not read the clock to avoid them.
 */
export async function hastenOutbox(executor: Executor, options: { nowMs: number; waitMsMax: number }): Promise<void> {
  const { nowMs, waitMsMax } = options;
  await execute(
    executor,
    sql`update outbox set due_at_ms = ${nowMs} where not in_flight and due_at_ms > ${nowMs}
      and (attempts = 0 or due_at_ms > ${nowMs + waitMsMax})`,
  );
}

/**
 * Claims due rows until `leaseUntilMs`; after that they are due again. `except`: rows that the caller still holds
 * itself.
 */
export async function claimOutbox(
  executor: Executor,
  options: { lane: string; nowMs: number; leaseUntilMs: number; limit: number; except?: readonly number[] },
): Promise<ClaimedRow[]> {
  const isOfApp = sql`outbox.app_id = ${appOfLane(options.lane)}`;
  return query<ClaimedRow>(
    executor,
    // Materialized: otherwise the database may look for the rows once per row of the table, and claim more each time.
    sql`with due as materialized (
        select outbox_id, in_flight from outbox where ${isOfApp} and lane = ${options.lane} and due_at_ms <= ${options.nowMs}
          and outbox_id <> all(${options.except ?? []}::bigint[])
        order by due_at_ms, outbox_id limit ${options.limit} for update skip locked)
      update outbox set attempts = outbox.attempts + 1, due_at_ms = ${options.leaseUntilMs}, in_flight = true from due
      where ${isOfApp} and outbox.outbox_id = due.outbox_id
      returning outbox.outbox_id, outbox.app_id, outbox.client_id,
        outbox.event_type, outbox.subject, outbox.attempts, due.in_flight as was_in_flight, outbox.content`,
  );
}

export type Fence = { appId: number; outboxId: number; attempts: number };

/** A row whose attempt is the current one, with its client's present id. */
export type Current = { outboxId: number; clientId: string };

const current = sql`outbox.outbox_id, outbox.client_id`;

/** Deletes the rows whose attempt is still the current one, and returns them. */
export async function endOutbox(tx: Executor, fences: readonly Fence[]): Promise<Current[]> {
  if (fences.length === 0) return [];
  return query<Current>(
    tx,
    sql`delete from outbox using ${fenced(fences)} where ${isFenced} returning ${current}`,
    "end_outbox",
  );
}

/** Postpones the rows whose attempt is still the current one, and returns them. */
export async function postponeOutbox(tx: Executor, rows: readonly (Fence & { dueAtMs: number })[]): Promise<Current[]> {
  if (rows.length === 0) return [];
  const later = rowsOf("later", rows, { appId: "int", outboxId: "bigint", attempts: "int", dueAtMs: "bigint" });
  return query<Current>(
    tx,
    sql`update outbox set due_at_ms = later.due_at_ms, in_flight = false from ${later}
      where outbox.app_id = later.app_id and outbox.outbox_id = later.outbox_id and outbox.attempts = later.attempts
      returning ${current}`,
  );
}

function fenced(fences: readonly Fence[]) {
  return rowsOf("fenced", fences, { appId: "int", outboxId: "bigint", attempts: "int" });
}

const isFenced = sql`outbox.app_id = fenced.app_id and outbox.outbox_id = fenced.outbox_id and outbox.attempts = fenced.attempts`;

/** A row that will never be sent. */
export type AbandonedRow = PostbackKey & { attempts: number; inFlight: boolean };

/** Deletes up to `limit` rows of a lane that is no longer served, such as that of a removed account. */
export async function emptyLane(tx: Executor, lane: string, limit: number): Promise<AbandonedRow[]> {
  const isOfApp = sql`app_id = ${appOfLane(lane)}`;
  return query<AbandonedRow>(
    tx,
    sql`delete from outbox where ${isOfApp} and outbox_id in (
        select outbox_id from outbox where ${isOfApp} and lane = ${lane} order by outbox_id limit ${limit})
      returning app_id, client_id, event_type, subject, attempts, in_flight`,
  );
}

/** The number of waiting rows in each lane, and since when the first one is due. */
export async function sumOutbox(
  executor: Executor,
): Promise<{ lane: string; waiting: number; inFlight: number; dueAtMs: number }[]> {
  return query(
    executor,
    sql`select lane, count(*) as waiting, count(*) filter (where in_flight) as in_flight, min(due_at_ms) as due_at_ms
      from outbox group by lane order by lane`,
  );
}
