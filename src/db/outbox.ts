import type { JsonObject } from "../domain/json.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import type { PostbackKey } from "./postback.ts";

/** Something that is to be sent. */
export type NewOutboxRow = PostbackKey & {
  /** What shares a rate and a circuit breaker: an account at a platform, or a callback of the app. */
  lane: string;
  dueAtMs: number;
  /** What is told, as far as it is not in the tables: the winning touch in the platform's words, or the event. */
  content: JsonObject;
};

/** A row that this process has claimed. `attempts` is the fence: an outcome counts only for the attempt it is of. */
export type ClaimedRow = PostbackKey & {
  outboxId: number;
  attempts: number;
  /** The attempt before was begun and its outcome never recorded: its process has died. */
  wasInFlight: boolean;
  content: JsonObject;
};

export async function insertOutbox(tx: Executor, rows: readonly NewOutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  const list = <K extends keyof NewOutboxRow>(key: K) => rows.map((row) => row[key]);
  await execute(
    tx,
    sql`insert into outbox (app_id, client_id, event_type, subject, lane, due_at_ms, attempts, in_flight, content)
      select app_id, client_id, event_type, subject, lane, due_at_ms, 0, false, content
      from unnest(${list("appId")}::int[], ${list("clientId")}::text[], ${list("eventType")}::text[], ${list("subject")}::text[],
        ${list("lane")}::text[], ${list("dueAtMs")}::bigint[], ${rows.map((row) => JSON.stringify(row.content))}::jsonb[])
        as new (app_id, client_id, event_type, subject, lane, due_at_ms, content)`,
  );
}

/** Those of the lanes in which something is due. */
export async function findDueLanes(executor: Executor, lanes: readonly string[], nowMs: number): Promise<string[]> {
  if (lanes.length === 0) return [];
  const rows = await query<{ lane: string }>(
    executor,
    sql`select lane from unnest(${lanes}::text[]) as asked (lane)
      where exists (select 1 from outbox o where o.lane = asked.lane and o.due_at_ms <= ${nowMs})`,
  );
  return rows.map((row) => row.lane);
}

/**
 * Takes rows that are due, and keeps them from others until `leaseUntilMs`; where that passes, they are due again.
 * `except`: rows that the caller still holds itself.
 */
export async function claimOutbox(
  executor: Executor,
  options: { lane: string; nowMs: number; leaseUntilMs: number; limit: number; except?: readonly number[] },
): Promise<ClaimedRow[]> {
  return query<ClaimedRow>(
    executor,
    sql`update outbox set attempts = outbox.attempts + 1, due_at_ms = ${options.leaseUntilMs}, in_flight = true
      from (
        select outbox_id, in_flight from outbox where lane = ${options.lane} and due_at_ms <= ${options.nowMs}
          and outbox_id <> all(${options.except ?? []}::bigint[])
        order by due_at_ms, outbox_id limit ${options.limit} for update skip locked) due
      where outbox.outbox_id = due.outbox_id
      returning outbox.outbox_id as "outboxId", outbox.app_id as "appId", outbox.client_id as "clientId",
        outbox.event_type as "eventType", outbox.subject, outbox.attempts, due.in_flight as "wasInFlight", outbox.content`,
  );
}

export type Fence = { outboxId: number; attempts: number };

/** A row whose attempt is the current one, and the id that its client has by now. */
export type Current = { outboxId: number; clientId: string };

const current = sql`outbox.outbox_id as "outboxId", outbox.client_id as "clientId"`;

/** Ends rows whose attempt is still the current one; returns those. */
export async function endOutbox(tx: Executor, fences: readonly Fence[]): Promise<Current[]> {
  if (fences.length === 0) return [];
  return query<Current>(tx, sql`delete from outbox using ${fenced(fences)} where ${isFenced} returning ${current}`);
}

/** Puts rows off whose attempt is still the current one; returns those. */
export async function postponeOutbox(tx: Executor, rows: readonly (Fence & { dueAtMs: number })[]): Promise<Current[]> {
  if (rows.length === 0) return [];
  return query<Current>(
    tx,
    sql`update outbox set due_at_ms = later.due_at_ms, in_flight = false
      from unnest(${rows.map((row) => row.outboxId)}::bigint[], ${rows.map((row) => row.attempts)}::int[],
        ${rows.map((row) => row.dueAtMs)}::bigint[]) as later (outbox_id, attempts, due_at_ms)
      where outbox.outbox_id = later.outbox_id and outbox.attempts = later.attempts
      returning ${current}`,
  );
}

function fenced(fences: readonly Fence[]) {
  return sql`unnest(${fences.map((fence) => fence.outboxId)}::bigint[], ${fences.map((fence) => fence.attempts)}::int[])
    as fenced (outbox_id, attempts)`;
}

const isFenced = sql`outbox.outbox_id = fenced.outbox_id and outbox.attempts = fenced.attempts`;

/** A row that nobody will send any more. */
export type AbandonedRow = PostbackKey & { attempts: number; inFlight: boolean };

/** Where nobody sends any more, such as of an account that was taken away: takes rows of a lane out, so many at a time. */
export async function emptyLane(tx: Executor, lane: string, limit: number): Promise<AbandonedRow[]> {
  return query<AbandonedRow>(
    tx,
    sql`delete from outbox where outbox_id in (select outbox_id from outbox where lane = ${lane} order by outbox_id limit ${limit})
      returning app_id as "appId", client_id as "clientId", event_type as "eventType", subject, attempts, in_flight as "inFlight"`,
  );
}

/** How many wait in each lane, and since when the first one is due. */
export async function sumOutbox(
  executor: Executor,
): Promise<{ lane: string; waiting: number; inFlight: number; dueAtMs: number }[]> {
  return query(
    executor,
    sql`select lane, count(*) as waiting, count(*) filter (where in_flight) as "inFlight", min(due_at_ms) as "dueAtMs"
      from outbox group by lane order by lane`,
  );
}
