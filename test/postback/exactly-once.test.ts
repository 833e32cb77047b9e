import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startBilibili } from "../../sim/platforms/bilibili.ts";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { AcceptedConversion, Failure, StandIn } from "../../sim/platforms/stand-in.ts";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { createPostbackRule } from "../../src/db/postback-rule.ts";
import type { PostbackWorker } from "../../src/postback/worker.ts";
import { NOW_MS, pay } from "../db/apply-stage.ts";
import { BACK_OFF_MS, PostbackStage } from "./postback-stage.ts";

let stage: PostbackStage;
let engine: OceanEngineStandIn;
let tencent: TencentStandIn;
let kuaishou: KuaishouStandIn;
let bilibili: StandIn;
beforeAll(async () => {
  stage = await PostbackStage.open();
  const { clock } = stage;
  [engine, tencent] = [await startOceanEngine({ clock }), await startTencent({ clock })];
  [kuaishou, bilibili] = [await startKuaishou({ clock }), await startBilibili({ clock })];
  const { appId } = stage.stage.app;
  await createPostbackRule(
    stage.pool,
    {
      appId,
      adPlatform: "",
      campaignId: "",
      moment: "first_pay",
      eventType: "first_pay",
      code: "",
      conditions: {},
      shareBp: 10_000,
      value: { kind: "as_is" },
      windowDays: 30,
      enabled: true,
    },
    0,
  );
});
beforeEach(() => stage.begin());
afterAll(async () => {
  await stage.close();
  await Promise.all([engine, tencent, kuaishou, bilibili].map((standIn) => standIn.close()));
});

/** The same numbers for the same seed, so that a failed run can be repeated. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const FAILURES: readonly Failure[] = [
  ...(["hang", "reset", "accept_then_reset", "accept_then_hang", "server_error", "busy"] as const),
  ...(["bad_token", "not_json"] as const),
];

const PLATFORMS = ["bytedance", "tencent", "kuaishou", "bilibili"] as const;
type Platform = (typeof PLATFORMS)[number];
const standInOf = (platform: Platform): StandIn => ({ bytedance: engine, tencent, kuaishou, bilibili })[platform];

async function accounts(): Promise<void> {
  await stage.oceanEngine(engine.url);
  await stage.kuaishou(kuaishou.url);
  await stage.account({ adPlatform: "bilibili", settings: { url: `${bilibili.url}/conv/api/conversion/ad/cb/v1` } });
  await stage.account({
    adPlatform: "tencent",
    settings: {
      url: `${tencent.url}/v3.0/user_actions/add`,
      token_url: `${tencent.url}/oauth/token`,
      client_id: tencent.clientId,
    },
    secrets: {
      access_token: tencent.tokens.accessToken,
      refresh_token: tencent.tokens.refreshToken,
      client_secret: tencent.clientSecret,
    },
  });
}

/** Users of every platform with two orders each: five postbacks per user. */
async function people(prefix: string, count: number): Promise<void> {
  const { stage: apply } = stage;
  for (let index = 0; index < count; index += 1) {
    const [client, platform] = [`${prefix}${index}`, PLATFORMS[index % PLATFORMS.length]!];
    const link = new URLSearchParams({ company: platform, ts: String(NOW_MS - 60_000), oaid: `o-${client}` });
    link.set(platform === "tencent" || platform === "bilibili" ? "click_id" : "callback", client);
    await apply.append("click", "", link.toString(), { at: NOW_MS - 60_000 });
    await apply.register(client, { device_info: { oaid: `o-${client}` } }, { ip: "203.0.113.9" });
    await apply.collect(client, [pay(`${client}-1`, 100 + index), pay(`${client}-2`, 5_000 + index)]);
  }
  await apply.applyAll();
}

/** A sending process: it has its own connections, and can die. */
type Process = { worker: PostbackWorker; stopping: AbortController; die(): Promise<void> };

function startProcess(): Process {
  const pool = stage.stage.database.open();
  const worker = stage.worker({ pool, deadlineMs: 150 });
  const stopping = new AbortController();
  return {
    worker,
    stopping,
    // The connections end first, so that it cannot record what it has heard.
    async die() {
      stage.forget(worker);
      stopping.abort();
      await pool.end();
    },
  };
}

/** Sends until nothing is left, while processes die and others start; the clock moves on by itself. */
async function sendThroughFailures(random: () => number, failUntil: number): Promise<void> {
  let processes = [startProcess(), startProcess()];
  for (let round = 0; ; round += 1) {
    if (round > 400) throw new Error("The outbox does not get empty.");
    if (round === failUntil) for (const platform of PLATFORMS) standInOf(platform).fail = () => undefined;
    const { rows } = await stage.pool.query("select min(due_at_ms) as due from outbox");
    if (rows[0].due === null) break;
    stage.nowMs = Math.max(stage.nowMs, rows[0].due);
    stage.elapsedMs += 3_600_000;
    await Promise.all(processes.map(({ worker, stopping }) => worker.turn(stopping.signal).catch(() => {})));
    const dies = round < failUntil && random() < 0.25;
    if (dies) {
      await sleep(random() * 60);
      const index = Math.floor(random() * processes.length);
      const [dead] = processes.splice(index, 1);
      void dead!.worker.rest();
      await dead!.die();
      processes = [...processes, startProcess()];
    }
    await Promise.all(processes.map(({ worker }) => worker.rest()));
  }
  for (const one of processes) await one.die();
}

type Told = { platform: Platform; client: string; code: string; cents: number | null };

/** The intended postbacks: an activation, a registration, two payments and a first payment per user. */
function meantOf(prefix: string, count: number): Told[] {
  const codes = {
    bytedance: ["active", "active_register", "active_pay", "first_pay"],
    tencent: ["ACTIVATE_APP", "REGISTER", "PURCHASE", "PURCHASE"],
    kuaishou: ["1", "2", "3", "3"],
    bilibili: ["APP_FIRST_ACTIVE", "USER_REGISTER", "USER_COST", "USER_COST"],
  } as const;
  return Array.from({ length: count }, (_, index) => {
    const platform = PLATFORMS[index % PLATFORMS.length]!;
    const [activate, register, paid, first] = codes[platform];
    const told = (code: string, cents: number | null) => ({ platform, client: `${prefix}${index}`, code, cents });
    const [small, large] = [100 + index, 5_000 + index];
    return [told(activate, null), told(register, null), told(first, small), told(paid, small), told(paid, large)];
  }).flat();
}

const textsOf = (list: readonly Told[]) =>
  list.map(({ platform, client, code, cents }) => `${platform} ${client} ${code} ${cents}`).sort();
const toldOf = (platform: Platform, list: readonly AcceptedConversion[]): Told[] =>
  list.map(({ key, code, cents }) => ({ platform, client: key, code, cents }));

describe("through failures of every kind, deaths and two workers at once", () => {
  const PEOPLE = 40;

  test.each([11, 23, 47, 101, 1_009])("seed %i: reported once, never again, and every order is right", async (seed) => {
    const random = numbers(seed);
    const prefix = `s${seed}-`;
    for (const platform of PLATFORMS) {
      const standIn = standInOf(platform);
      standIn.accepted.length = 0;
      standIn.fail = () => (random() < 0.35 ? FAILURES[Math.floor(random() * FAILURES.length)] : undefined);
    }
    await accounts();
    await people(prefix, PEOPLE);
    await sendThroughFailures(random, 60);

    const meant = meantOf(prefix, PEOPLE);
    const { rows: postbacks } = await stage.pool.query(
      "select client_id, ad_platform, event_type, subject, status, back_cents, value_cents, reason from postback",
    );
    expect(postbacks).toHaveLength(meant.length);
    expect(postbacks.filter(({ status }) => status === 0 || status === 3)).toEqual([]);

    for (const platform of ["bytedance", "tencent"] as const) {
      const heard = standInOf(platform).accepted.filter(({ isDuplicate }) => !isDuplicate);
      const given = postbacks.filter((row) => row.ad_platform === platform && row.status === 2);
      // A platform that recognises repeats misses only what it refused in every attempt.
      for (const { reason } of given) expect(reason).toMatch(/^Given up after/);
      const accepted = postbacks.filter((row) => row.ad_platform === platform && row.status === 1);
      // Some failed postbacks were heard and only their answers lost; none was heard twice.
      expect(heard.length).toBeGreaterThanOrEqual(accepted.length);
      expect(new Set(heard.map(({ dedupeId }) => dedupeId)).size).toBe(heard.length);
      const ofPlatform = textsOf(meant.filter((one) => one.platform === platform));
      const left = [...ofPlatform];
      for (const text of textsOf(toldOf(platform, heard))) {
        expect(left).toContain(text);
        left.splice(left.indexOf(text), 1);
      }
      expect(left.length).toBeLessThanOrEqual(given.length);
    }

    for (const platform of ["kuaishou", "bilibili"] as const) {
      const heard = textsOf(toldOf(platform, standInOf(platform).accepted));
      const left = textsOf(meant.filter((one) => one.platform === platform));
      for (const text of heard) {
        expect(left).toContain(text);
        left.splice(left.indexOf(text), 1);
      }
      const given = postbacks.filter((row) => row.ad_platform === platform && row.status === 2);
      expect(left.length).toBeLessThanOrEqual(given.length);
    }

    await expectTrueOrders(postbacks);
  });
});

/** An order with an accepted postback was heard with that amount; one that was never heard has none. */
async function expectTrueOrders(postbacks: readonly Record<string, any>[]): Promise<void> {
  const { rows: orders } = await stage.pool.query(
    "select client_id, trace_id, cents, postback_status, back_cents, pass_status from orders",
  );
  for (const order of orders) {
    const own = postbacks.filter(
      (row) =>
        row.client_id === order.client_id &&
        (row.subject === order.trace_id || (row.event_type === "first_pay" && order.trace_id.endsWith("-1"))),
    );
    const isAccepted = own.some(({ status }) => status === 1);
    expect([order.trace_id, order.postback_status, order.back_cents, order.pass_status]).toEqual(
      isAccepted ? [order.trace_id, 1, order.cents, 1] : [order.trace_id, 2, 0, 1],
    );
    const platform = own[0]!.ad_platform as Platform;
    const heard = standInOf(platform).accepted.filter(
      ({ key, cents }) => key === order.client_id && cents === order.cents,
    );
    if (isAccepted) expect(heard.length).toBeGreaterThan(0);
  }
}

test("without a permanent refusal, everything arrives exactly once at platforms that recognise repeats", async () => {
  const random = numbers(7);
  const lost: readonly Failure[] = ["accept_then_reset", "reset", "server_error", "busy", "not_json"];
  // Fewer failures in a row than there are attempts, so that none fails for good.
  const inRow = new Map<Platform, number>();
  for (const platform of ["bytedance", "tencent"] as const) {
    standInOf(platform).accepted.length = 0;
    standInOf(platform).fail = () => {
      const failed = inRow.get(platform) ?? 0;
      const failure = failed < 40 && random() < 0.4 ? lost[Math.floor(random() * lost.length)] : undefined;
      if (failure) inRow.set(platform, failed + 1);
      return failure;
    };
  }
  for (const platform of ["kuaishou", "bilibili"] as const) {
    standInOf(platform).accepted.length = 0;
    standInOf(platform).fail = () => (random() < 0.4 ? "busy" : undefined);
  }
  await accounts();
  await people("x-", 16);
  const backOffMs = Array.from({ length: 40 }, () => BACK_OFF_MS[0]!);
  const workers = [stage.worker({ backOffMs }), stage.worker({ backOffMs })];
  for (let round = 0; round < 200; round += 1) {
    const { rows } = await stage.pool.query("select min(due_at_ms) as due from outbox");
    if (rows[0].due === null) break;
    stage.nowMs = Math.max(stage.nowMs, rows[0].due);
    await Promise.all(workers.map((worker) => stage.send(worker)));
  }
  const heard = PLATFORMS.flatMap((platform) =>
    toldOf(
      platform,
      standInOf(platform).accepted.filter(({ isDuplicate }) => !isDuplicate),
    ),
  );
  expect(textsOf(heard)).toEqual(textsOf(meantOf("x-", 16)));
  const { rows } = await stage.pool.query("select distinct status from postback");
  expect(rows).toEqual([{ status: 1 }]);
  const { rows: orders } = await stage.pool.query("select count(*)::int as n from orders where back_cents = cents");
  expect(orders).toEqual([{ n: 32 }]);
});
