import { POSTBACK_STATUS, type PostbackStatus } from "../domain/postback/postback.ts";
import { LIMITS } from "../limits.ts";
import { markSlices } from "./dirty-day.ts";
import { preferIndexes } from "./engine/pool.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, query, sql } from "./engine/sql.ts";
import { emptyLane, endOutbox, type Fence, postponeOutbox } from "./outbox.ts";
import { type OrderOfPostback, type PostbackKey, showPostbacksInOrders } from "./postback.ts";
import { STATUS } from "./postback-status.ts";

/** How an attempt ended. */
export type PostbackOutcome = PostbackKey &
  Fence & {
    status: PostbackStatus;
    reason: string;
    /** The value sent to the platform, when it accepted. */
    backCents: number;
    /** When to try again, when the postback still waits. */
    dueAtMs: number;
    /** The app's local day of acceptance, or null. */
    acceptedDay: string | null;
  };

/** Records outcomes wherever they show. An outcome whose attempt is no longer the current one is ignored. */
export async function recordOutcomes(tx: Executor, outcomes: readonly PostbackOutcome[], nowMs: number): Promise<void> {
  const waits = outcomes.filter(({ status }) => status === POSTBACK_STATUS.waiting);
  const ended = outcomes.filter(({ status }) => status !== POSTBACK_STATUS.waiting);
  const current = [...(await postponeOutbox(tx, waits)), ...(await endOutbox(tx, ended))];
  // The client may have been renamed since the row was claimed.
  const clientIds = new Map(current.map(({ outboxId, clientId }) => [outboxId, clientId]));
  const counting = outcomes.flatMap((outcome) => {
    const clientId = clientIds.get(outcome.outboxId);
    return clientId === undefined ? [] : [{ ...outcome, clientId }];
  });
  await settlePostbacks(tx, counting, nowMs);
}

export type Settled = Omit<PostbackOutcome, "outboxId" | "dueAtMs">;

/**
 * Writes outcomes into the postbacks, their orders, and the slices of the cube that count them. A skipped postback does
 * not count as an attempt: a click that comes late may supply what was missing.
 */
async function settlePostbacks(tx: Executor, settled: readonly Settled[], nowMs: number): Promise<void> {
  if (settled.length === 0) return;
  const ended = rowsOf("ended", settled, {
    appId: "int",
    clientId: "text",
    eventType: "text",
    subject: "text",
    status: "int",
    reason: "text",
    attempts: "int",
    backCents: "bigint",
    acceptedDay: "date",
  });
  const rows = await query<SettledPostback>(
    tx,
    sql`update postback set status = ended.status, reason = ended.reason, attempts = ended.attempts - (ended.status = ${STATUS.skipped})::int, back_cents = ended.back_cents,
        accepted_day = ended.accepted_day, changed_at_ms = ${nowMs}
      from ${ended}
      left join user_account u on u.app_id = ended.app_id and u.client_id = ended.client_id collate "C"
      where postback.app_id = ended.app_id and postback.client_id = ended.client_id collate "C"
        and postback.event_type = ended.event_type and postback.subject = ended.subject collate "C" and postback.status <> ${STATUS.accepted}
      returning postback.app_id, postback.client_id, postback.trace_id, postback.status,
        postback.accepted_day, case when postback.ad_platform <> '' then u.cohort_day end as cohort_day`,
    "settle_postbacks",
  );
  await showSettled(tx, rows, nowMs);
}

/** A postback with its outcome. `cohortDay` is null for a callback to the app's own systems. */
export type SettledPostback = OrderOfPostback & {
  status: number;
  acceptedDay: string | null;
  cohortDay: string | null;
};

/** Shows outcomes in orders, and marks the slices of the cube that count them. */
export async function showSettled(tx: Executor, rows: readonly SettledPostback[], nowMs: number): Promise<void> {
  const ofOrders = rows.filter(({ traceId, status }) => traceId !== "" && status !== POSTBACK_STATUS.waiting);
  await showPostbacksInOrders(tx, ofOrders);
  const slices = new Map<string, { appId: number; cohort: "touch" | "occurred"; day: string }>();
  for (const { appId, cohortDay, status, acceptedDay } of rows) {
    if (status !== POSTBACK_STATUS.accepted || cohortDay === null || acceptedDay === null) continue;
    slices.set(`${appId} touch ${cohortDay}`, { appId, cohort: "touch", day: cohortDay });
    slices.set(`${appId} occurred ${acceptedDay}`, { appId, cohort: "occurred", day: acceptedDay });
  }
  await markSlices(tx, [...slices.values()], nowMs);
}

/** Gives up everything that waits in a lane that is no longer served; returns the number. */
export async function giveUpLane(
  tx: Executor,
  lane: string,
  { reason, nowMs }: { reason: string; nowMs: number },
): Promise<number> {
  await preferIndexes(tx);
  for (let total = 0; ; ) {
    const rows = await emptyLane(tx, lane, LIMITS.postbacksAtOnce);
    if (rows.length === 0) return total;
    const settled = rows.map(({ inFlight, ...row }) => ({
      ...row,
      status: POSTBACK_STATUS.givenUp,
      backCents: 0,
      acceptedDay: null,
      // The process that is sending it will find the row gone, so the platform's answer is never recorded.
      reason: inFlight ? `${reason} It was being sent, and may have been counted.` : reason,
    }));
    await settlePostbacks(tx, settled, nowMs);
    total += rows.length;
  }
}
