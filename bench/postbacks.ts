import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { newUser } from "../src/apply/facts.ts";
import { elapsedMs, systemClock } from "../src/clock.ts";
import type { App } from "../src/db/app.ts";
import { embeddedConnection } from "../src/db/embedded.ts";
import { insertOrders } from "../src/db/orders.ts";
import { insertOutbox } from "../src/db/outbox.ts";
import { removeAccount, storeAccount } from "../src/db/platform-account.ts";
import { inTransaction, openPool } from "../src/db/pool.ts";
import { storePostbacks } from "../src/db/postback.ts";
import { insertUsers } from "../src/db/user-account.ts";
import { RuleBook } from "../src/domain/attribution-rules.ts";
import { calendarOf } from "../src/domain/calendar.ts";
import { laneOf } from "../src/domain/postback-book.ts";
import { createLog } from "../src/log.ts";
import { openVault } from "../src/vault.ts";
import { type Child, type Setup, startChild } from "./children.ts";
import { type Row, withDatabase } from "./database.ts";

const POSTBACKS = 30_000;
const ROWS_AT_ONCE = 1_000;
/** As many as a lane has under way. */
const CONNECTIONS = 64;
/** The first part only warms up. */
const WARM_UP_SHARE = 0.2;
const TARGET_PER_S = 1_000;

type Options = Setup & { app: App };

/**
 * How fast one process tells a platform of payments: claimed, sent to a stand-in in a process of its own, and written
 * down in postback, order and cube; beside a client that only sends the same calls to the same stand-in.
 */
export async function measurePostbacks(options: Options): Promise<{ rows: Row[]; figures: Record<string, number> }> {
  const standIn = await startChild("./platform-stand-in.js", [], {}, /port (\d+)/);
  const bare = await sendBare(standIn);
  await withDatabase(options.dataDir, (pool) => fill(pool, options, standIn));
  const server = await startChild(options.serverScript, [], { ...options.env, ROLES: "postback" }, options.ready);
  const ours = await watch(options.dataDir);
  await server.stop();
  await withDatabase(options.dataDir, (pool) => assertAccepted(pool, options));
  await standIn.stop();
  const ratio = Math.round((ours / bare) * 100) / 100;
  return {
    figures: { postbacks_per_s: Math.round(ours), postbacks_bare_per_s: Math.round(bare), postbacks_ratio: ratio },
    rows: [
      {
        ...{ what: "postbacks/s, one platform, sent and recorded", bare: Math.round(bare), ours: Math.round(ours) },
        ...{ ratio, target: `≥ ${TARGET_PER_S}/s` },
      },
    ],
  };
}

function bodyOf(number: number, atMs: number): string {
  return JSON.stringify({
    ...{ event_type: "active_pay", timestamp: atMs, outer_event_id: `bare-${number}` },
    context: { ad: { callback: `cb-${number}`, match_type: 0 }, device: { platform: "android" } },
    properties: { pay_amount: 600, order_id: `bare-${number}` },
  });
}

/** Calls a second, once it is warm. */
async function sendBare(standIn: Child): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const url = `http://127.0.0.1:${standIn.port}/api/v2/conversion`;
  const atMs = systemClock();
  let next = 0;
  let warmMs = 0;
  const lane = async () => {
    for (let number = next++; number < POSTBACKS; number = next++) {
      if (number === POSTBACKS * WARM_UP_SHARE) warmMs = elapsedMs();
      await post(url, bodyOf(number, atMs), agent);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
  agent.destroy();
  return (POSTBACKS * (1 - WARM_UP_SHARE) * 1000) / (elapsedMs() - warmMs);
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

/** Users with an order each, of whom the platform is to be told. */
async function fill(pool: pg.Pool, { app, dataDir }: Options, standIn: Child): Promise<void> {
  const { appId } = app;
  const atMs = systemClock();
  const account = { appId, adPlatform: "bytedance", advertiserId: "", postbacks: true, costs: false, ratePerS: 0 };
  const settings = { url: `http://127.0.0.1:${standIn.port}/api/v2/conversion` };
  const state = { secrets: {}, tokenExpiresAtMs: null, lastError: "", lastErrorAtMs: null };
  const vault = openVault({ dataDir, secretKey: "" });
  await storeAccount(pool, vault, { ...account, settings, ...state }, atMs);
  for (let from = 0; from < POSTBACKS; from += ROWS_AT_ONCE) {
    const numbers = Array.from({ length: ROWS_AT_ONCE }, (_, index) => from + index);
    await insertThousand(pool, { app, numbers, atMs, lane: laneOf(account) });
  }
  await pool.query("vacuum analyze outbox, postback, orders, user_account");
}

async function insertThousand(
  pool: pg.Pool,
  { app, numbers, atMs, lane }: { app: App; numbers: number[]; atMs: number; lane: string },
): Promise<void> {
  const { appId } = app;
  const context = { ...app, calendar: calendarOf(app.timeZone), rules: new RuleBook([]), book: undefined };
  const day = context.calendar.dayOf(atMs);
  const key = (number: number) => ({ appId, clientId: `told-${number}`, traceId: `told-${number}` });
  const users = numbers.map((number) => {
    const user = newUser(key(number), atMs, context);
    return Object.assign(user, { isRegistered: true, adPlatform: "bytedance", osPlatform: "android", ip: "10.1.2.3" });
  });
  const orders = numbers.map((number) => ({
    ...{ ...key(number), day, atMs, receivedAtMs: atMs, cents: 600, currency: "CNY", sentAmount: 600, hasRate: true },
    ...{ payCount: 1, isVirtual: 0, properties: "{}", postbackStatus: 0 as const, passStatus: 1 as const },
  }));
  const postbacks = numbers.map((number) => ({
    ...{
      ...key(number),
      eventType: "pay",
      subject: `told-${number}`,
      adPlatform: "bytedance",
      ruleId: 1,
      moment: "pay",
    },
    ...{ atMs, valueCents: 600, status: 0 as const, isPassed: true, reason: "", createdAtMs: atMs, changedAtMs: atMs },
  }));
  const content = (number: number) => ({ ad_data: { callback: `cb-${number}`, aid: "71001", cid: "81001" } });
  await inTransaction(pool, async (tx) => {
    await insertUsers(tx, users);
    await insertOrders(tx, orders);
    await storePostbacks(tx, postbacks);
    await insertOutbox(
      tx,
      postbacks.map((one, index) => ({ ...one, lane, dueAtMs: atMs, content: content(numbers[index]!) })),
    );
  });
}

/** Postbacks a second, while the server empties the outbox. */
async function watch(dataDir: string): Promise<number> {
  const pool = openPool(embeddedConnection(dataDir)!, { log: createLog("error"), connectionsMax: 1, name: "bench" });
  const left = async () => Number((await pool.query("select count(*) as left from outbox")).rows[0].left);
  let warm: { left: number; atMs: number } | undefined;
  try {
    for (;;) {
      const [now, atMs] = [await left(), elapsedMs()];
      if (!warm && now <= POSTBACKS * (1 - WARM_UP_SHARE)) warm = { left: now, atMs };
      if (now === 0) return (warm!.left * 1000) / (atMs - warm!.atMs);
      await sleep(50);
    }
  } finally {
    await pool.end();
  }
}

async function assertAccepted(pool: pg.Pool, { app }: Options): Promise<void> {
  const { rows } = await pool.query(
    "select count(*)::int as told from orders where client_id like 'told-%' and postback_status = 1 and back_cents = 600",
  );
  if (rows[0].told !== POSTBACKS) throw new Error(`${rows[0].told} of ${POSTBACKS} orders say that they were told.`);
  // What the steps after this one bring is told to nobody.
  await removeAccount(pool, { appId: app.appId, adPlatform: "bytedance", advertiserId: "" });
}
