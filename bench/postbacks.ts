import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { newUser } from "../src/apply/facts/new-user.ts";
import { elapsedMs, systemClock } from "../src/clock.ts";
import type { App } from "../src/db/app.ts";
import { embeddedConnection } from "../src/db/engine/embedded-role.ts";
import { inTransaction, openPool } from "../src/db/engine/pool.ts";
import { insertOrders } from "../src/db/orders.ts";
import { insertOutbox } from "../src/db/outbox.ts";
import { removeAccount, storeAccount } from "../src/db/platform-account.ts";
import { storePostbacks } from "../src/db/postback.ts";
import { insertUsers } from "../src/db/user-account.ts";
import { RuleBook } from "../src/domain/attribution/attribution-rules.ts";
import { calendarOf } from "../src/domain/calendar.ts";
import { POSTBACK_STATUS } from "../src/domain/postback/postback.ts";
import { laneOf } from "../src/domain/postback/postback-book.ts";
import { LIMITS } from "../src/limits.ts";
import { createLog } from "../src/log.ts";
import { openVault } from "../src/vault.ts";
import { type Child, type Setup, startChild, startServer } from "./children.ts";
import { withDatabase } from "./database.ts";
import type { Cost, Measured } from "./figures.ts";

const ROWS_AT_ONCE = 1_000;
/** As many calls at a time as a lane has under way. */
const CONNECTIONS = LIMITS.postbacksInFlight;
/** The first share of the postbacks only warms up. */
const WARM_UP_SHARE = 0.2;

/** The postbacks of one scale. */
type Lot = { scale: number; postbacks: number };

/**
 * Measures how fast one process reports payments to a platform: claimed, sent to a stand-in in its own process, and recorded
 * in postback, order and cube. The bare counterpart is a client that only sends the same calls to the same stand-in.
 */
export async function measurePostbacks(setup: Setup): Promise<Measured> {
  const { dataDir, sizes, scales } = setup;
  const standIn = await startChild("./platform-stand-in.js", [], {}, /port (\d+)/);
  const bare = await sendBare(standIn, sizes.postbacks);
  const points: Cost["points"][number][] = [];
  for (const scale of scales) {
    const lot = { scale, postbacks: scale * sizes.postbacks };
    await withDatabase(dataDir, (pool) => fill(pool, setup, { lot, standIn }));
    const server = await startServer(setup.env, "postback");
    points.push({ scale, perUnit: 1_000_000 / (await watch(dataDir, lot)) });
    await server.stop();
    await withDatabase(dataDir, (pool) => assertAccepted(pool, lot));
  }
  // Later steps must not cause postbacks.
  const account = { appId: setup.app.appId, adPlatform: "bytedance", advertiserId: "" };
  await withDatabase(dataDir, (pool) => removeAccount(pool, account));
  await standIn.stop();
  return {
    figures: [
      {
        name: "postbacks",
        what: "postbacks, sent and recorded",
        unit: "postbacks/s",
        ours: 1_000_000 / points[0]!.perUnit,
        bare,
        target: "≥ 0.30",
        beside: "a client that only sends",
      },
    ],
    costs: [{ name: "postbacks", what: "postbacks, by postbacks waiting", unit: "µs/postback", points }],
  };
}

function bodyOf(number: number, atMs: number): string {
  return JSON.stringify({
    event_type: "active_pay",
    timestamp: atMs,
    outer_event_id: `bare-${number}`,
    context: { ad: { callback: `cb-${number}`, match_type: 0 }, device: { platform: "android" } },
    properties: { pay_amount: 600, order_id: `bare-${number}` },
  });
}

/** Calls per second after warming up. */
async function sendBare(standIn: Child, postbacks: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const url = `http://127.0.0.1:${standIn.port}/api/v2/conversion`;
  const atMs = systemClock();
  let next = 0;
  let warmMs = 0;
  const lane = async () => {
    for (let number = next++; number < postbacks; number = next++) {
      if (number === postbacks * WARM_UP_SHARE) warmMs = elapsedMs();
      await post(url, bodyOf(number, atMs), agent);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  agent.destroy();
  return (postbacks * (1 - WARM_UP_SHARE) * 1000) / (elapsedMs() - warmMs);
}

function post(url: string, body: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const call = request(url, { method: "POST", agent, headers }, (response) => {
      response.resume();
      response.on("end", () => (response.statusCode === 200 ? resolve() : reject(new Error("The stand-in refused."))));
    });
    call.on("error", reject);
    call.end(body);
  });
}

/** Stores users with one order each, and a waiting postback for it. */
async function fill(
  pool: pg.Pool,
  { app, dataDir }: Setup,
  { lot, standIn }: { lot: Lot; standIn: Child },
): Promise<void> {
  const { appId } = app;
  const atMs = systemClock();
  const account = { appId, adPlatform: "bytedance", advertiserId: "", postbacks: true, costs: false, ratePerS: 0 };
  const settings = { url: `http://127.0.0.1:${standIn.port}/api/v2/conversion` };
  const state = {
    secrets: {},
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
  const vault = openVault({ dataDir, secretKey: "" });
  await storeAccount(pool, vault, { ...account, settings, ...state }, atMs);
  const names = Array.from({ length: lot.postbacks }, (_, number) => `told-${lot.scale}-${number}`);
  for (let from = 0; from < names.length; from += ROWS_AT_ONCE)
    await insertSome(pool, { app, names: names.slice(from, from + ROWS_AT_ONCE), atMs, lane: laneOf(account) });
  await pool.query("vacuum analyze outbox, postback, orders, user_account");
}

async function insertSome(
  pool: pg.Pool,
  { app, names, atMs, lane }: { app: App; names: string[]; atMs: number; lane: string },
): Promise<void> {
  const { appId } = app;
  const context = { ...app, calendar: calendarOf(app.timeZone), rules: new RuleBook([]), book: undefined };
  const day = context.calendar.dayOf(atMs);
  const key = (name: string) => ({ appId, clientId: name, traceId: name });
  const users = names.map((name) => {
    const user = newUser(key(name), atMs, context);
    return Object.assign(user, { isRegistered: true, adPlatform: "bytedance", osPlatform: "android", ip: "10.1.2.3" });
  });
  const orders = names.map((name) => ({
    ...key(name),
    day,
    atMs,
    receivedAtMs: atMs,
    cents: 600,
    currency: "CNY",
    sentAmount: 600,
    hasRate: true,
    payCount: 1,
    isVirtual: 0,
    properties: "{}",
    postbackStatus: 0 as const,
    passStatus: 1 as const,
    registeredDay: day,
    adPlatform: "bytedance",
  }));
  const postbacks = names.map((name) => ({
    ...key(name),
    eventType: "pay",
    subject: name,
    adPlatform: "bytedance",
    ruleId: 1,
    moment: "pay",
    atMs,
    valueCents: 600,
    status: 0 as const,
    isPassed: true,
    reason: "",
    createdAtMs: atMs,
    changedAtMs: atMs,
  }));
  const content = (name: string) => ({ ad_data: { callback: `cb-${name}`, aid: "71001", cid: "81001" } });
  await inTransaction(pool, async (tx) => {
    await insertUsers(tx, users);
    await insertOrders(tx, orders);
    await storePostbacks(tx, postbacks);
    await insertOutbox(
      tx,
      postbacks.map((one, index) => ({ ...one, lane, dueAtMs: atMs, content: content(names[index]!) })),
    );
  });
}

/** Postbacks per second while the server empties the outbox. */
async function watch(dataDir: string, { postbacks }: Lot): Promise<number> {
  const pool = openPool(embeddedConnection(dataDir)!, { log: createLog("error"), connectionsMax: 1, name: "bench" });
  const left = async () => Number((await pool.query("select count(*) as left from outbox")).rows[0].left);
  const startedMs = elapsedMs();
  let warm: Warm | undefined;
  try {
    for (;;) {
      const [now, atMs] = [await left(), elapsedMs()];
      if (!warm && now <= postbacks * (1 - WARM_UP_SHARE)) warm = { left: now, atMs };
      if (now === 0) return rateOf(warm!, { postbacks, startedMs, atMs });
      await sleep(50);
    }
  } finally {
    await pool.end();
  }
}

type Warm = { left: number; atMs: number };

/** The rate after warming up, or over all postbacks if there were too few to see the warm-up. */
function rateOf(warm: Warm, all: { postbacks: number; startedMs: number; atMs: number }): number {
  const [sent, sinceMs] = warm.left > 0 ? [warm.left, warm.atMs] : [all.postbacks, all.startedMs];
  return (sent * 1000) / (all.atMs - sinceMs);
}

async function assertAccepted(pool: pg.Pool, { scale, postbacks }: Lot): Promise<void> {
  const { rows } = await pool.query(
    "select count(*)::int as told from orders where client_id like $1 and postback_status = $2 and back_cents = 600",
    [`told-${scale}-%`, POSTBACK_STATUS.accepted],
  );
  if (rows[0].told !== postbacks) throw new Error(`${rows[0].told} of ${postbacks} orders show an accepted postback.`);
}
