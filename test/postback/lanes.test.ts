import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import { loadPauses } from "../../src/db/lane-pause.ts";
import { LIMITS } from "../../src/limits.ts";
import { pay } from "../db/apply-stage.ts";
import { besideThem } from "../db/temp-database.ts";
import { Gate } from "./gate.ts";
import { LEASE_MS, PostbackStage, until } from "./postback-stage.ts";

let stage: PostbackStage;
let engine: OceanEngineStandIn;
let kuaishou: KuaishouStandIn;
let gate: Gate;
beforeAll(async () => {
  stage = await PostbackStage.open();
  const { clock } = stage;
  [engine, kuaishou] = [await startOceanEngine({ clock }), await startKuaishou({ clock })];
});
beforeEach(async () => {
  await stage.begin();
  gate = await Gate.open();
});
afterEach(() => {
  gate.close();
  for (const standIn of [engine, kuaishou]) {
    standIn.fail = () => undefined;
    standIn.accepted.length = 0;
  }
});
afterAll(async () => {
  await stage.close();
  await Promise.all([engine, kuaishou].map((standIn) => standIn.close()));
});

const PLACES = LIMITS.postbacksInFlight;

let people = 0;

/** Users brought by a platform's ads, with one activation to report each. */
async function users(platform: string, count: number): Promise<void> {
  await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
  for (let index = 0; index < count; index += 1) {
    people += 1;
    await stage.bring(platform, `p${people}`);
  }
  await stage.stage.applyAll();
}

const never = new AbortController().signal;

test("while another process has the duty of sending, or nobody knows, nothing is sent", async () => {
  await stage.oceanEngine(engine.url);
  await users("bytedance", 2);
  let duty = async () => false;
  const worker = stage.worker({ maySend: () => duty() });
  const turn = async () => {
    await worker.turn(never);
    await worker.rest();
    return engine.calls;
  };
  const before = engine.calls;
  expect(await turn()).toBe(before);
  duty = () => Promise.reject(new Error("away"));
  await expect(turn()).rejects.toThrow("away");
  duty = async () => true;
  expect(await turn()).toBe(before + 2);
});

describe("a platform that is down", () => {
  test("is probed from time to time, and gets everything when it is back", async () => {
    await stage.oceanEngine(engine.url);
    await users("bytedance", PLACES + 6);
    const worker = stage.worker();
    engine.fail = () => "server_error";
    const turn = async (passedMs: number): Promise<number> => {
      const before = engine.calls;
      stage.elapsedMs += passedMs;
      await worker.turn(never);
      await worker.rest();
      return engine.calls - before;
    };
    // All calls under way fail at once, and count as one failure of the platform, not as many.
    const burst = await turn(0);
    expect(burst).toBeGreaterThanOrEqual(PLACES);
    // Four may fail before it counts as down, and are replaced by four more.
    expect(burst).toBeLessThanOrEqual(PLACES + 4);
    stage.nowMs += 60_000;
    expect(await turn(9_999)).toBe(0);
    expect(await turn(1)).toBe(1);
    expect(await turn(19_999)).toBe(0);
    expect(await turn(1)).toBe(1);
    expect(await turn(39_999)).toBe(0);
    engine.fail = () => undefined;
    expect(await turn(1)).toBe(PLACES + 6 - 2);
    stage.nowMs += 300_000;
    expect(await turn(0)).toBe(2);
    expect(new Set(engine.accepted.map(({ key }) => key)).size).toBe(PLACES + 6);
  });

  test("is shown as paused until it is tried again, and no longer once it is back", async () => {
    await stage.oceanEngine(engine.url);
    // Just enough: with more, timing would decide whether the last one is still sent.
    await users("bytedance", 5);
    const worker = stage.worker();
    engine.fail = () => "server_error";
    const lane = `${stage.stage.app.appId} bytedance `;
    const pause = async () => (await loadPauses(stage.pool, stage.nowMs)).get(lane);
    const turn = async (passedMs: number) => {
      stage.elapsedMs += passedMs;
      stage.nowMs += passedMs;
      await worker.turn(never);
      await worker.rest();
    };
    expect(await pause()).toBeUndefined();
    await turn(0);
    expect(await pause()).toEqual({ pausedUntilMs: stage.nowMs + 10_000, failures: 5 });
    await turn(60_000);
    expect(await pause()).toEqual({ pausedUntilMs: stage.nowMs + 20_000, failures: 6 });
    engine.fail = () => undefined;
    await turn(60_000);
    expect(engine.accepted).not.toEqual([]);
    expect(await pause()).toBeUndefined();
    expect((await stage.pool.query("select * from lane_pause where lane = $1", [lane])).rows).toEqual([]);
  });

  test("and does not answer delays no other platform", async () => {
    await stage.oceanEngine(gate.url);
    await stage.kuaishou(kuaishou.url);
    await users("bytedance", PLACES + 36);
    await users("kuaishou", 20);
    const worker = stage.worker();
    await worker.turn(never);
    await until(() => kuaishou.accepted.length === 20);
    await until(async () => (await stage.outbox("lane")).every(({ lane }) => String(lane).includes("bytedance")));
    await until(() => gate.calls.length >= PLACES);
    // The others have not even been claimed.
    expect((await stage.outbox("in_flight")).filter(({ in_flight }) => in_flight)).toHaveLength(PLACES);
    expect(gate.calls).toHaveLength(PLACES);
    gate.answer = { status: 200, body: '{"code":0}' };
    for (let index = 0; index < PLACES; index += 1) gate.release(gate.answer);
    await worker.rest();
    expect(gate.calls).toHaveLength(PLACES + 36);
  });
});

describe("a database that is away", () => {
  /** Blocks new connections to the stage's database, and ends those of clients. Autovacuum is not ours to end. */
  async function outage(): Promise<() => Promise<void>> {
    const admin = stage.ownPool(besideThem());
    const { name } = stage.stage.database;
    await admin.query(`alter database ${name} allow_connections false`);
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
      [name],
    );
    return async () => {
      await admin.query(`alter database ${name} allow_connections true`);
    };
  }

  test("delays outcomes, and none is lost, even though leases expire meanwhile", async () => {
    await stage.kuaishou(gate.url);
    await users("kuaishou", 3);
    const worker = stage.worker();
    await worker.turn(never);
    await until(() => gate.calls.length === 3);
    const back = await outage();
    gate.release({ status: 200, body: '{"result":1}' });
    await sleep(600);
    gate.release({ status: 200, body: '{"result":1}' });
    stage.nowMs += 2 * LEASE_MS;
    gate.release({ status: 200, body: '{"result":0,"error_msg":"callbackinfo decoded failure"}' });
    await sleep(600);
    await back();
    await worker.rest();
    expect((await stage.postbacks("status, attempts")).map(({ status, attempts }) => [status, attempts])).toEqual([
      [1, 1],
      [1, 1],
      [2, 1],
    ]);
    expect(gate.calls).toHaveLength(3);
    expect(await stage.outbox()).toEqual([]);
  });

  test("and comes back while the worker stops: accepted postbacks are still recorded", async () => {
    await stage.kuaishou(gate.url);
    await users("kuaishou", 1);
    const stopping = new AbortController();
    const worker = stage.worker();
    await worker.turn(stopping.signal);
    await until(() => gate.calls.length === 1);
    const back = await outage();
    stopping.abort();
    gate.release({ status: 200, body: '{"result":1}' });
    await sleep(1_200);
    await back();
    await worker.rest();
    expect(await stage.postbacks("status")).toEqual([{ status: 1 }]);
  });
});

test("outcomes that wait for the database delay no calls, until there are too many of them", async () => {
  const held = LIMITS.postbacksHeld;
  await stage.oceanEngine(engine.url);
  await users("bytedance", held + 40);
  const worker = stage.worker();
  const holder = await stage.pool.connect();
  try {
    await holder.query("begin");
    await holder.query("select 1 from postback where app_id = $1 for update", [stage.stage.app.appId]);
    await worker.turn(never);
    await until(() => engine.accepted.length >= held);
    const claimed = (await stage.outbox("in_flight")).filter(({ in_flight }) => in_flight);
    expect(claimed).toHaveLength(held);
    expect(engine.accepted).toHaveLength(held);
    expect(await stage.pool.query("select 1 from postback where status <> 0")).toMatchObject({ rowCount: 0 });
  } finally {
    await holder.query("rollback");
    holder.release();
  }
  await worker.rest();
  expect(engine.accepted.filter(({ isDuplicate }) => !isDuplicate)).toHaveLength(held + 40);
  expect(await stage.pool.query("select 1 from postback where status = 1")).toMatchObject({ rowCount: held + 40 });
});

test.each([
  ["a refusal for good", { status: 400 }],
  ["a failure", { status: 500 }],
  ["an acceptance", { status: 200, body: '{"code":0}' }],
])("%s of an attempt whose lease has ended does not affect the next attempt", async (_, late) => {
  await stage.oceanEngine(gate.url);
  await users("bytedance", 1);
  const [slow, quick] = [stage.worker(), stage.worker()];
  await slow.turn(never);
  await until(() => gate.calls.length === 1);
  stage.nowMs += LEASE_MS;
  await quick.turn(never);
  await until(() => gate.calls.length === 2);
  gate.release(late);
  await slow.rest();
  const lease = stage.nowMs + LEASE_MS;
  expect(await stage.outbox("attempts, in_flight, due_at_ms")).toEqual([
    { attempts: 2, in_flight: true, due_at_ms: lease },
  ]);
  expect(await stage.postbacks("status, attempts, reason")).toEqual([{ status: 0, attempts: 0, reason: "" }]);
  gate.release({ status: 200, body: '{"code":0}' });
  await quick.rest();
  expect(await stage.postbacks("status, attempts")).toEqual([{ status: 1, attempts: 2 }]);
});

test("a client renamed during its postback keeps the outcome, and its id at the platform", async () => {
  await stage.oceanEngine(gate.url);
  await stage.pool.query("update postback_rule set enabled = moment = 'pay'");
  await stage.bring("bytedance", "before");
  await stage.stage.collect("before", [pay("o1", 600)]);
  await stage.stage.applyAll();
  const worker = stage.worker();
  await worker.turn(never);
  await until(() => gate.calls.length === 1);
  await stage.stage.append("reset_client_id", "before", { new_client_id: "after" });
  await stage.stage.applyAll();
  gate.release({ status: 500 });
  await worker.rest();
  gate.answer = { status: 200, body: '{"code":0}' };
  await stage.sendAll(worker);
  const ids = gate.calls.map(({ body }) => JSON.parse(body).outer_event_id);
  expect(ids).toHaveLength(2);
  expect(ids[1]).toBe(ids[0]);
  expect(await stage.postbacks("client_id, status, attempts")).toEqual([
    { client_id: "after", status: 1, attempts: 2 },
  ]);
  expect(await stage.orders("client_id, postback_status, back_cents")).toEqual([
    { client_id: "after", postback_status: 1, back_cents: 600 },
  ]);
});
