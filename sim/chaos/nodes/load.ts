import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { App } from "../../../src/db/app.ts";
import { callFor } from "../../call.ts";
import { PROPERTIES, STORED_EVENTS } from "../../stored-events.ts";
import { WAIT_MS_MAX } from "../until.ts";

/** One request as sent. After a lost answer the very same bytes are sent again, as SDKs do. */
type Job = { path: string; body: string; markers: string[]; registers?: string };

const LANES = 6;
const EVENTS_PER_BODY_MAX = 20;

/**
 * Clients that register and send events without pause, each event with its own marker. The load remembers what was
 * acknowledged, so that the tables can be checked against it.
 */
export class Load {
  /** Markers of every event ever sent. */
  readonly sent = new Set<string>();
  /** Markers of the events whose answer had code 0. */
  readonly acknowledged = new Set<string>();
  /** Clients whose registration was acknowledged. */
  readonly registered: string[] = [];
  /** Answers that must never come: 2000 for a registered client, a refused event, an unknown code. */
  readonly complaints: string[] = [];
  /** Requests without an answer, 503 answers, and repeats of an acknowledged body. */
  readonly counts = { lost: 0, refused: 0, repeated: 0 };
  readonly #app: Pick<App, "accessToken">;
  readonly #pending: (Job | undefined)[] = Array.from({ length: LANES });
  readonly #done: Job[] = [];
  readonly #orderIds: string[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #isStopping = true;
  #number = 0;

  constructor(app: Pick<App, "accessToken">) {
    this.#app = app;
  }

  /** Starts the clients; those that lost an answer first send the same body again. Of several servers, each call takes one. */
  begin(...urls: [string, ...string[]]): void {
    if (!this.#isStopping) throw new Error("The load is running already.");
    this.#isStopping = false;
    this.#running = Promise.all(this.#pending.map((_, lane) => this.#run(lane, urls)));
  }

  /** Ends after the requests under way; those without an answer stay pending. */
  async pause(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  /** Sends pending requests until every one has an answer. */
  async finish(...urls: [string, ...string[]]): Promise<void> {
    await this.pause();
    const until = Date.now() + WAIT_MS_MAX;
    while (this.#pending.some((job) => job !== undefined)) {
      if (Date.now() > until) throw new Error("The server does not take in what the clients have left.");
      await Promise.all(this.#pending.map((job, lane) => job && this.#send(lane, job, pick(urls))));
    }
  }

  /** Waits until this many events have been acknowledged. */
  async reach(events: number): Promise<void> {
    const until = Date.now() + WAIT_MS_MAX;
    while (this.acknowledged.size < events) {
      if (Date.now() > until) throw new Error(`Only ${this.acknowledged.size} of ${events} events were acknowledged.`);
      await sleep(5);
    }
  }

  async #run(lane: number, urls: readonly string[]): Promise<void> {
    while (!this.#isStopping) {
      const job = this.#pending[lane] ?? this.#nextJob();
      this.#pending[lane] = job;
      await this.#send(lane, job, pick(urls));
    }
  }

  async #send(lane: number, job: Job, url: string): Promise<void> {
    for (const marker of job.markers) this.sent.add(marker);
    const answer = await post(`${url}/event_center/api/v1/${job.path}?access_token=${this.#app.accessToken}`, job.body);
    if (answer === undefined) {
      this.counts.lost += 1;
      await sleep(5);
    } else if (answer.status === 503) {
      this.counts.refused += 1;
      await sleep(20);
    } else {
      this.#pending[lane] = undefined;
      this.#note(job, answer);
    }
  }

  #note(job: Job, answer: { code: number; msg: string; extra: { errors?: unknown } }): void {
    if (answer.code !== 0 || answer.extra.errors !== undefined) {
      this.complaints.push(`${job.path} ${JSON.stringify(answer)} for ${job.body.slice(0, 100)}`);
      return;
    }
    for (const marker of job.markers) this.acknowledged.add(marker);
    if (job.registers !== undefined && !this.registered.includes(job.registers)) this.registered.push(job.registers);
    this.#done.push(job);
    if (this.#done.length > 50) this.#done.shift();
  }

  #nextJob(): Job {
    const luck = Math.random();
    if (this.registered.length === 0 || luck < 0.08) return this.#registration();
    if (luck < 0.15 && this.#done.length > 0) {
      this.counts.repeated += 1;
      return pick(this.#done);
    }
    const clientId = pick(this.registered);
    const events = Array.from({ length: 1 + Math.floor(Math.random() * EVENTS_PER_BODY_MAX) }, () => this.#event());
    return {
      path: "event/collect/",
      body: JSON.stringify({ client_id: clientId, event_list: events }),
      markers: events.map((event) => event.properties.marker),
    };
  }

  #registration(): Job {
    this.#number += 1;
    const clientId = `client-${this.#number}`;
    const body = JSON.stringify({ client_id: clientId, name: clientId, channel: "load", version: 1 });
    return { path: "user/register/", body, markers: [], registers: clientId };
  }

  #event() {
    this.#number += 1;
    const marker = `m${this.#number}`;
    // Not in the order of their times: apply treats events later than the newest one separately.
    const time = Date.now() - Math.floor(Math.random() * 60_000);
    const luck = Math.random();
    if (luck < 0.2) return { type: "profile", event: "profile_increment", time, properties: { score: 1, marker } };
    if (luck > 0.35) return { type: "track", event: "load", time, properties: { marker } };
    const $order_id = this.#orderIds.length > 0 && luck > 0.32 ? pick(this.#orderIds) : `order-${marker}`;
    this.#orderIds.push($order_id);
    return { type: "track", event: "$PayEvent", time, properties: { marker, $order_id, $pay_amount: 100 } };
  }
}

/** Resolves to undefined if the answer was lost, so that it is unknown whether the server has the body. */
function post(url: string, body: string) {
  return callFor<unknown>(url, { method: "POST", body }).catch(() => undefined);
}

function pick<T>(list: readonly T[]): T {
  return list[Math.floor(Math.random() * list.length)]!;
}

/** The result of an audit when every promise held. */
export const FLAWLESS = {
  complaints: [],
  clientsMissing: [],
  missing: [],
  twice: [],
  neverSent: [],
  minutesThatDoNotAddUp: [],
  storedInLedgerButNotInTable: 0,
  trackEventsOff: 0,
  ordersOff: 0,
  payCountsOff: 0,
  scoresOff: [],
  setAside: 0,
};

/** Checks the tables of an app against what its load was told. */
export async function audit(
  pool: pg.Pool,
  app: Pick<App, "appId">,
  load: Pick<Load, "sent" | "acknowledged" | "registered" | "complaints">,
): Promise<Record<keyof typeof FLAWLESS, unknown>> {
  const rows = async (text: string) => (await pool.query(text, [app.appId])).rows;
  const number = async (text: string) => Number((await rows(text))[0].number);
  const stored = await rows(`select ${PROPERTIES}->>'marker' as marker from ${STORED_EVENTS} where e.app_id = $1`);
  const seen = new Set<string>();
  const twice: string[] = [];
  for (const { marker } of stored) {
    if (seen.has(marker)) twice.push(marker);
    seen.add(marker);
  }
  const users = new Set(
    (await rows("select client_id from user_account where app_id = $1")).map((row) => row.client_id),
  );
  return {
    complaints: load.complaints.slice(0, 5),
    clientsMissing: load.registered.filter((clientId) => !users.has(clientId)).slice(0, 10),
    missing: [...load.acknowledged].filter((marker) => !seen.has(marker)).slice(0, 10),
    twice: twice.slice(0, 10),
    neverSent: [...seen].filter((marker) => !load.sent.has(marker)).slice(0, 10),
    minutesThatDoNotAddUp: await rows(`select minute_ms from ledger_minute where app_id = $1 group by minute_ms
      having sum(events) filter (where outcome = 'received')
        is distinct from coalesce(sum(events) filter (where outcome <> 'received'), 0)`),
    storedInLedgerButNotInTable: await number(`select coalesce(sum(events), 0) - ${stored.length} as number
      from ledger_minute where app_id = $1 and outcome = 'stored'`),
    trackEventsOff: await number(`select coalesce(sum(track_events), 0)
        - (select count(*) from event where app_id = $1 and type = 'track') as number
      from user_day where app_id = $1`),
    ordersOff: await number(`select count(*) - count(distinct trace_id) + abs(count(distinct trace_id)
        - (select count(distinct ${PROPERTIES}->>'$order_id') from ${STORED_EVENTS} where e.app_id = $1)) as number
      from orders where app_id = $1`),
    payCountsOff: await number(`select coalesce(sum(pay_count), 0)
        - (select count(*) from orders where app_id = $1) as number
      from user_account where app_id = $1`),
    scoresOff: await rows(`select client_id, (u.properties->>'score')::int as score, stored.increments
      from user_account u join (
        select client_id, count(*) as increments from event
        where app_id = $1 and event = 'profile_increment' group by client_id
      ) stored using (client_id)
      where app_id = $1 and (u.properties->>'score')::int is distinct from stored.increments limit 5`),
    setAside: await number("select count(*) as number from set_aside where app_id in ($1, 0)"),
  };
}
