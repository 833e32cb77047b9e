import { setTimeout as sleep } from "node:timers/promises";
import { LIMITS } from "../../../src/limits.ts";
import type { Failure } from "../../platforms/stand-in.ts";
import type { Fault, Trouble } from "../fault.ts";
import { LEASE_MS, type Site } from "../site.ts";
import { until } from "../until.ts";

const UNDER_WAY = 3;
/** Covers the lease and the time until the database ends the frozen transaction, with room for a busy machine. */
const TAKE_OVER_MS_MAX = LEASE_MS + LIMITS.transactionIdleMs + 240_000;
/** Time for the woken worker to record what it believes to be true. */
const AWAKE_MS = 1_500;

/**
 * One sender is frozen during its calls, for longer than its lease, and another takes over. When the first wakes up, it
 * still believes in its own attempts.
 */
const freeze: Fault = {
  name: "freeze_worker",
  what: "the process that tells the platforms is frozen beyond its lease, another takes over, and it wakes up again",
  kind: "other",
  at: "embedded",
  async inflict({ site, findings }) {
    answerWith(site, "accept_then_hang");
    await until("postbacks are under way", async () => (await inFlight(site)).length >= UNDER_WAY);
    site.worker.signal("SIGSTOP");
    const held = await inFlight(site);
    answerWith(site, undefined);
    await site.startOther();
    const isTakenOver = async () => (await stillHeld(site, held)) === 0;
    await until("the other has taken over", isTakenOver, { waitMs: TAKE_OVER_MS_MAX });
    const before = await recordedOf(site, held);
    site.worker.signal("SIGCONT");
    await until("the frozen one is awake", async () => (await fetch(`${site.worker.url}/healthz`)).ok);
    await sleep(AWAKE_MS);
    findings.equal(6, "outcomes after the frozen one has told its own", {
      is: await recordedOf(site, held),
      should: before,
    });
    findings.none(
      6,
      "outcomes are of the attempt that was frozen",
      before.filter(({ attempts }) => attempts < 2),
    );
    findings.hold(6, before.length > 0, "nothing was under way when the worker was frozen");
  },
  async mend({ site }: Trouble) {
    answerWith(site, undefined);
    await site.stopOther();
  },
};

const TRIES = 300;
const EVENTS = 60;

/** The frozen transaction stays open, and holds rows that apply and every other sender need. */
const freezeInTransaction: Fault = {
  name: "freeze_locks",
  what: "the process that tells the platforms is frozen within a transaction; apply and another sender go on without it",
  kind: "other",
  at: "embedded",
  async inflict(trouble) {
    const { site, findings } = trouble;
    const held = await freezeHolding(trouble);
    if (held.length === 0) findings.notes.push("The worker was never met within a transaction.");
    await site.startOther();
    await site.flows(EVENTS);
    const { durable } = await site.progress();
    const goesOn = async () => (await site.progress()).applied >= durable;
    await until("apply goes on without the frozen one", goesOn, { waitMs: TAKE_OVER_MS_MAX });
    const isEnded = async () => (await openTransactions(site)).every((pid) => !held.includes(pid));
    await until("the database has ended the frozen transaction", isEnded, { waitMs: TAKE_OVER_MS_MAX });
    site.worker.signal("SIGCONT");
    await until("the frozen one is awake", async () => (await fetch(`${site.worker.url}/healthz`)).ok);
  },
  mend: ({ site }: Trouble) => site.stopOther(),
};

/** Freezes the worker while it has uncommitted changes; returns those transactions. */
async function freezeHolding({ site, random }: Trouble): Promise<number[]> {
  for (let tries = 0; ; tries += 1) {
    await sleep(random.between(1, 40));
    site.worker.signal("SIGSTOP");
    const held = await openTransactions(site);
    if (held.length > 0 || tries >= TRIES) return held;
    site.worker.signal("SIGCONT");
  }
}

/** Backends of the sender's connections that are idle in a transaction with changes. */
async function openTransactions({ pool }: Site): Promise<number[]> {
  const { rows } = await pool.query(
    `select pid from pg_stat_activity where application_name = 'touchpoint postback' and state = 'idle in transaction'
       and backend_xid is not null`,
  );
  return rows.map(({ pid }) => pid);
}

function answerWith({ counterparts }: Site, failure: Failure | undefined): void {
  for (const standIn of Object.values(counterparts.byPlatform)) standIn.fail = () => failure;
}

type Held = { outboxId: string; attempts: number; key: string };

/** Rows claimed for the first time that no transaction holds. */
async function inFlight({ pool }: Site): Promise<Held[]> {
  const { rows } = await pool.query(
    `select outbox_id::text as "outboxId", attempts, client_id || ' ' || event_type || ' ' || subject as key
     from outbox where in_flight and attempts = 1 for update skip locked`,
  );
  return rows;
}

async function stillHeld({ pool }: Site, held: readonly Held[]): Promise<number> {
  const { rows } = await pool.query("select 1 from outbox where outbox_id = any($1::bigint[])", [
    held.map(({ outboxId }) => outboxId),
  ]);
  return rows.length;
}

type RecordedPostback = { key: string; status: number; reason: string; attempts: number };

async function recordedOf({ pool }: Site, held: readonly Held[]): Promise<RecordedPostback[]> {
  const { rows } = await pool.query(
    `select key, status, reason, attempts from (
       select client_id || ' ' || event_type || ' ' || subject as key, status, reason, attempts from postback) own
     where key = any($1::text[]) order by key`,
    [held.map(({ key }) => key)],
  );
  return rows;
}

export const WORKER_FAULTS: readonly Fault[] = [freeze, freezeInTransaction];
