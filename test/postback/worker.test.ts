import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { Failure } from "../../sim/platforms/stand-in.ts";
import { claimOutbox } from "../../src/db/outbox.ts";
import { loadReaches } from "../../src/db/platform-account.ts";
import { laneOf } from "../../src/domain/postback/postback-book.ts";
import { NOW_MS, pay } from "../db/apply-stage.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { BACK_OFF_MS, PostbackStage, until } from "./postback-stage.ts";

let stage: PostbackStage;
let engine: OceanEngineStandIn;
let kuaishou: KuaishouStandIn;
beforeAll(async () => {
  stage = await PostbackStage.open();
  engine = await startOceanEngine({ clock: stage.clock });
  kuaishou = await startKuaishou({ clock: stage.clock });
});
beforeEach(() => stage.begin());
afterEach(() => {
  for (const standIn of [engine, kuaishou]) {
    standIn.fail = () => undefined;
    standIn.accepted.length = 0;
  }
});
afterAll(async () => {
  await stage.close();
  await engine.close();
  await kuaishou.close();
});

const fails = (standIn: { fail: (call: number) => Failure | undefined }, ...failures: (Failure | undefined)[]) => {
  const left = [...failures];
  standIn.fail = () => left.shift();
};

/** The deadline matters only if no answer comes; it is long enough that the request has certainly been sent. */
const deadlineOf = (failure: Failure) => (failure.endsWith("hang") ? 1_000 : PATIENCE_MS);

/** Only the activation: one postback. */
async function oneUser(platform: "bytedance" | "kuaishou", client = "u"): Promise<void> {
  await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
  await stage.bring(platform, client);
  await stage.stage.applyAll();
}

describe("an attempt that fails", () => {
  const TEMPORARY: Failure[] = ["busy", "server_error", "not_json", "reset", "hang"];
  test.each(TEMPORARY)("%s: is repeated after exactly the set waits, then the postback fails", async (failure) => {
    await stage.oceanEngine(engine.url);
    await oneUser("bytedance");
    const worker = stage.worker({ deadlineMs: deadlineOf(failure) });
    engine.fail = () => failure;
    const before = engine.calls;
    for (const [index, waitMs] of BACK_OFF_MS.entries()) {
      await stage.send(worker);
      const dueAtMs = stage.nowMs + waitMs;
      expect(await stage.outbox()).toEqual([
        { event_type: "activate", attempts: index + 1, in_flight: false, due_at_ms: dueAtMs },
      ]);
      expect(await stage.postbacks("status, attempts")).toEqual([{ status: 0, attempts: index + 1 }]);
      stage.nowMs = dueAtMs - 1;
      await stage.send(worker);
      await expect.poll(() => engine.calls - before).toBe(index + 1);
      stage.nowMs = dueAtMs;
    }
    await stage.send(worker);
    expect(await stage.outbox()).toEqual([]);
    expect(await stage.postbacks("status, attempts")).toEqual([{ status: 2, attempts: BACK_OFF_MS.length + 1 }]);
    expect((await stage.postbacks())[0]!.reason).toMatch(/^Given up after 4 attempts\. \S/);
    expect(engine.accepted).toEqual([]);
  });

  test("for good is not repeated", async () => {
    await stage.kuaishou(kuaishou.url);
    await oneUser("kuaishou");
    fails(kuaishou, "bad_token");
    await stage.send(stage.worker());
    expect(await stage.postbacks()).toMatchObject([{ status: 2, reason: /decoded failure/ }].map(withPattern));
    expect(await stage.outbox()).toEqual([]);
  });

  test("and is followed by a success is accepted once, without a reason", async () => {
    await stage.oceanEngine(engine.url);
    await oneUser("bytedance");
    fails(engine, "busy", "accept_then_reset");
    const worker = stage.worker();
    await stage.sendAll(worker);
    expect(engine.accepted.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true]);
    expect(await stage.postbacks("status, reason, attempts")).toEqual([{ status: 1, reason: "", attempts: 3 }]);
  });

  test("a text that no column can hold does not stop the lane", async () => {
    const { createServer } = await import("node:http");
    const odd = createServer((_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"code":7,"message":"a\\u0000b\\ud800"}'),
    );
    await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve));
    const { port } = odd.address() as { port: number };
    await stage.oceanEngine(`http://127.0.0.1:${port}`);
    await oneUser("bytedance");
    await stage.send(stage.worker());
    expect(await stage.postbacks("status, attempts")).toEqual([{ status: 0, attempts: 1 }]);
    odd.close();
  });
});

describe("a lost answer", () => {
  test.each<Failure>(["accept_then_reset", "accept_then_hang", "reset", "hang"])(
    "%s: is not repeated at a platform that does not recognise repeats",
    async (failure) => {
      await stage.kuaishou(kuaishou.url);
      await oneUser("kuaishou");
      fails(kuaishou, failure);
      const worker = stage.worker({ deadlineMs: deadlineOf(failure) });
      await stage.sendAll(worker);
      await expect.poll(() => kuaishou.accepted.length).toBe(failure.startsWith("accept") ? 1 : 0);
      expect(await stage.postbacks()).toMatchObject([{ status: 2, reason: /may have counted/ }].map(withPattern));
    },
  );

  test("is repeated if the account says that repeats do no harm", async () => {
    await stage.kuaishou(kuaishou.url, { settings: { url: `${kuaishou.url}/track/activate`, repeats: "yes" } });
    await oneUser("kuaishou");
    fails(kuaishou, "reset");
    await stage.sendAll(stage.worker());
    expect(kuaishou.accepted).toHaveLength(1);
    expect(await stage.postbacks("status")).toEqual([{ status: 1 }]);
  });

  test("a platform that cannot be reached got nothing, and is tried again later", async () => {
    await stage.kuaishou("http://127.0.0.1:9");
    await oneUser("kuaishou");
    const worker = stage.worker();
    await stage.send(worker);
    expect(await stage.postbacks("status")).toEqual([{ status: 0 }]);
    await stage.kuaishou(kuaishou.url);
    await stage.sendAll(worker);
    expect(kuaishou.accepted).toHaveLength(1);
  });
});

describe("a process that died while sending", () => {
  async function die(platform: "bytedance" | "kuaishou"): Promise<void> {
    await oneUser(platform);
    const lane = laneOf({ appId: stage.stage.app.appId, adPlatform: platform, advertiserId: "" });
    const lease = { nowMs: stage.nowMs, leaseUntilMs: stage.nowMs + 6_000, limit: 10 };
    expect(await claimOutbox(stage.pool, { lane, ...lease })).toHaveLength(1);
  }

  test("keeps its rows until the lease ends; then a platform that recognises repeats is called again", async () => {
    await stage.oceanEngine(engine.url);
    await die("bytedance");
    const worker = stage.worker();
    stage.nowMs += 5_999;
    await stage.send(worker);
    expect(engine.accepted).toEqual([]);
    stage.nowMs += 1;
    await stage.send(worker);
    expect(engine.accepted).toHaveLength(1);
    expect(await stage.postbacks("status, attempts")).toEqual([{ status: 1, attempts: 2 }]);
  });

  test("may have reached a platform that does not recognise repeats: the postback fails, with the reason", async () => {
    await stage.kuaishou(kuaishou.url);
    await die("kuaishou");
    stage.nowMs += 6_000;
    await stage.send(stage.worker());
    expect(kuaishou.accepted).toEqual([]);
    expect(await stage.postbacks()).toMatchObject([{ status: 2, reason: /answer was lost/ }].map(withPattern));
  });
});

describe("a clock that was ahead and is right again", () => {
  const AHEAD_MS = 26 * 3_600_000;

  test("does not put off a postback that nobody has tried", async () => {
    await stage.oceanEngine(engine.url);
    await oneUser("bytedance");
    await stage.pool.query("update outbox set due_at_ms = $1", [stage.nowMs + 600_000]);
    await stage.send(stage.worker());
    expect(await stage.postbacks("status, attempts")).toEqual([{ status: 1, attempts: 1 }]);
  });

  test("puts off no attempt by more than the longest wait", async () => {
    await stage.oceanEngine(engine.url);
    await oneUser("bytedance");
    fails(engine, "busy");
    stage.nowMs += AHEAD_MS;
    const worker = stage.worker();
    await stage.send(worker);
    expect(await stage.outbox("attempts")).toEqual([{ attempts: 1 }]);
    stage.nowMs -= AHEAD_MS;
    await stage.send(worker);
    expect(await stage.postbacks("status, attempts")).toEqual([{ status: 1, attempts: 2 }]);
  });

  test("leaves claimed rows to the process that holds them", async () => {
    await stage.oceanEngine(engine.url);
    await oneUser("bytedance");
    const lane = laneOf({ appId: stage.stage.app.appId, adPlatform: "bytedance", advertiserId: "" });
    const aheadMs = stage.nowMs + AHEAD_MS;
    await claimOutbox(stage.pool, { lane, nowMs: aheadMs, leaseUntilMs: aheadMs + 6_000, limit: 10 });
    await stage.send(stage.worker());
    expect(engine.accepted).toEqual([]);
    expect(await stage.outbox("in_flight, due_at_ms")).toEqual([{ in_flight: true, due_at_ms: aheadMs + 6_000 }]);
  });
});

test("an account gets no more calls per second than it allows", async () => {
  await stage.oceanEngine(engine.url, { ratePerS: 3 });
  await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
  for (let index = 0; index < 10; index += 1) await stage.bring("bytedance", `u${index}`);
  await stage.stage.applyAll();
  const worker = stage.worker();
  const never = new AbortController().signal;
  const counts: number[] = [];
  for (const passedMs of [0, 0, 334, 500, 10_000]) {
    stage.elapsedMs += passedMs;
    await worker.turn(never);
    await worker.rest();
    counts.push(engine.accepted.length);
  }
  expect(counts).toEqual([3, 3, 4, 5, 8]);
});

test("a row is sent by one worker, no matter how many there are", async () => {
  await stage.oceanEngine(engine.url);
  await stage.kuaishou(kuaishou.url);
  await stage.pool.query("update postback_rule set enabled = true");
  for (let index = 0; index < 40; index += 1) {
    const platform = index % 2 === 0 ? "bytedance" : "kuaishou";
    await stage.bring(platform, `w${index}`);
    await stage.stage.collect(`w${index}`, [pay(`o${index}`, 100 + index)]);
  }
  await stage.stage.applyAll();
  const workers = Array.from({ length: 3 }, () => stage.worker());
  await Promise.all(workers.map((worker) => stage.send(worker)));
  expect([engine.accepted.length, kuaishou.accepted.length]).toEqual([60, 60]);
  expect(engine.accepted.filter(({ isDuplicate }) => isDuplicate)).toEqual([]);
  const { rows } = await stage.pool.query("select status, count(*)::int as count from postback group by 1");
  expect(rows).toEqual([{ status: 1, count: 120 }]);
  expect((await loadReaches(stage.pool, [stage.stage.app.appId])).length).toBe(2);
});

/** Lets a row be compared with a text that it must match. */
function withPattern(row: { status: number; reason: RegExp }) {
  return { status: row.status, reason: expect.stringMatching(row.reason) };
}

test("nothing is claimed after a stop signal, and calls under way are recorded", async () => {
  await stage.oceanEngine(engine.url);
  await oneUser("bytedance");
  const stopping = new AbortController();
  stopping.abort();
  await stage.send(stage.worker(), stopping.signal);
  expect(await stage.outbox("attempts")).toEqual([{ attempts: 0 }]);
  const loop = stage.worker({ elapsed: () => performance.now() }).start();
  await until(() => engine.accepted.length === 1);
  await loop.stop();
  expect(await stage.postbacks("status")).toEqual([{ status: 1 }]);
  expect(stage.nowMs).toBe(NOW_MS);
});

test("a click that comes while a sender skips the postback for want of it is used", async () => {
  await stage.oceanEngine(engine.url);
  await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
  await stage.stage.register("u", { ad_data: { clue_token: "clue", promotion_id: "7001" } });
  await stage.stage.applyAll();
  const { pool, open } = gatedPool();
  const worker = stage.worker({ pool });
  const sent = stage.send(worker);
  await until(() => pool.waiting > 0);
  const at = NOW_MS - 60_000;
  const link = new URLSearchParams({ company: "bytedance", promotion_id: "7001", callback: "clue", ts: String(at) });
  await stage.stage.append("click", "", link.toString(), { at: NOW_MS });
  await stage.stage.applyAll();
  open();
  await sent;
  await stage.send(worker);
  expect(await stage.postbacks("event_type, status, reason")).toEqual([
    { event_type: "activate", status: 1, reason: "" },
  ]);
  expect(engine.accepted).toMatchObject([{ key: "clue", code: "active" }]);
});

/** Gives out one connection for a transaction; further callers wait until the gate opens. */
function gatedPool(): { pool: pg.Pool & { waiting: number }; open: () => void } {
  const pool = stage.ownPool(stage.stage.database.open()) as pg.Pool & { waiting: number };
  const connect = pool.connect.bind(pool);
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  let given = 0;
  pool.waiting = 0;
  pool.connect = (async (callback?: Parameters<pg.Pool["connect"]>[0]) => {
    // Single statements pass a callback, transactions do not.
    if (callback) return connect(callback);
    given += 1;
    if (given > 1) {
      pool.waiting += 1;
      await opened;
    }
    return connect();
  }) as typeof pool.connect;
  return { pool, open };
}
