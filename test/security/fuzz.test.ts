import { afterAll, beforeAll, expect, test } from "vitest";
import { type FuzzAnswer, FuzzClient, faultOf } from "../../sim/fuzz/answer.ts";
import { NASTY_TEXTS } from "../../sim/fuzz/nasty.ts";
import { type Hints, type OpenApi, type Operation, operationsOf } from "../../sim/fuzz/operation.ts";
import { Random } from "../../sim/fuzz/random.ts";
import { DAMAGES, type FuzzRequest, fuzzRequest, type World } from "../../sim/fuzz/request.ts";
import { signedRequest } from "../../src/client/report-client.ts";
import type { App } from "../../src/db/app.ts";
import { CODES, REJECTIONS } from "../../src/errors.ts";
import { adminToken } from "../../src/http/admin.ts";
import { openVault } from "../../src/vault.ts";
import { refresh } from "../http/endpoints.ts";
import { type Row, track } from "../http/fixture.ts";
import { dayOf, Reports } from "../http/reports.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

const SEED = Number(process.env.FUZZ_SEED ?? 20_261_115);
const SECONDS = Number(process.env.FUZZ_SECONDS ?? 12);
const AT_ONCE = 4;
const MEMORY_BYTES_MAX = 900 * 1024 * 1024;
const ALL_CODES: ReadonlySet<number> = new Set(Object.values(CODES).map(({ code }) => code));

let server: TouchpointProcess;
let reports: Reports;
beforeAll(async () => {
  server = await TouchpointProcess.start({ env: { LOG_LEVEL: "info" } });
  reports = new Reports(server);
});
afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

const EVENT_NAMES = ["level_up", "$PayEvent", "$AdShow", "profile_set", "constructor"];
const PROPERTIES = ["a", "$order_id", "$pay_amount", "$ecpm", "$trace_id", "constructor", "$os"];

function eventOf(random: Random): Row {
  const properties = { [random.pick(PROPERTIES)]: random.pick([...NASTY_TEXTS, 1, 600, true]) };
  const time = random.chance(0.9) ? Date.now() - random.integer(10_000) : random.pick([0, 1e15, -5, "x"]);
  return { ...track(random.pick(EVENT_NAMES), properties, time), type: random.pick(["track", "track", "profile"]) };
}

function hintsOf(app: App, developers: readonly number[]): Hints {
  const text = (random: Random) => random.pick(["a", "tencent", "c", ...NASTY_TEXTS]);
  const texts = (random: Random) => Array.from({ length: random.integer(3) }, () => text(random));
  const days = () => [dayOf(Date.now() - 86_400_000), dayOf(Date.now())];
  return {
    app_id: () => app.appId,
    apps: (random) => random.pick(["all", [app.appId]]),
    access_token: () => app.accessToken,
    client_id: (random) => `client-${random.integer(20)}`,
    new_client_id: (random) => `client-${random.integer(40)}`,
    user_list: (random) => [`client-${random.integer(20)}`],
    event_list: (random) => Array.from({ length: 1 + random.integer(4) }, () => eventOf(random)),
    event_type: (random) => random.pick(["START", "PAY", "pay", "activate", "register"]),
    ...{ name: text, channel: text, wx_openid: text, click_id: text, aid: text, gid: text, callback: text, oaid: text },
    ad_data: (random) => ({ gdt_vid: text(random), tencent: { account_id: text(random) }, constructor: 1 }),
    version: () => 1,
    ts: () => Date.now(),
    timestamp: () => Date.now(),
    active_time: () => Date.now(),
    click_time: () => Date.now() - 1_000,
    company: (random) => random.pick(["tencent", "bytedance", "kuaishou", "baidu", "vivo", "x"]),
    click_company: (random) => random.pick(["tencent", ""]),
    turbo_promoted_object_id: () => "0123456789abcdef",
    date_list: days,
    ...{ from: () => days()[0], to: () => days()[1] },
    metrics_list: (random) => [random.pick(["AdCost", "AppROI", "AppDAU", "AppActivateStandard"])],
    metric: () => "AppROI",
    dims_list: (random) => [random.pick(["date", "ad_platform", "channel", "aid", "csite"])],
    dims_metrics_list: (random) => random.pick([[], ["AidName"], ["advertiser_name"]]),
    order_by_list: (random) => [
      { field: random.pick(["ClientID", "Amount", "CreateTime", "x"]), sort: random.integer(2) },
    ],
    property_condition: (random) => [
      { field: random.pick(["user$a", "event$a", "user$constructor"]), operator: "equal", values: texts(random) },
    ],
    ...{ page: () => 1, page_size: () => 20, id: (random) => random.pick(developers) },
    row: (random) => ({ ad_platform: text(random) }),
    rules: () => ({ click_window: "3d" }),
    csv: (random) => `date,ad_platform,cost\n${days()[1]},tencent,${random.pick(["1", "x", '"', ...NASTY_TEXTS])}\n`,
    // The app stays open, and keeps its access token: the other operations need both.
    ...{ enabled: () => true, which: (random) => random.pick(["aes_key", "aes_key", "x"]), metadata: () => "open" },
    names: (random) => [random.pick(["level_up", ...NASTY_TEXTS])],
    url: () => "https://own.invalid/told",
    moment: (random) => random.pick(["pay", "register", "event:level_up"]),
    ad_platform: (random) => random.pick(["tencent", "vivo", "oppo"]),
    data: () => ({ os_name: "android", oaid: "oaid-1" }),
    device_info: () => ({ os_name: "android", oaid: "oaid-1" }),
  };
}

function worldOf(app: App, appKey: string, developers: readonly number[]): World {
  const admin = adminToken(openVault({ dataDir: server.dataDir, secretKey: "" }));
  return {
    hints: hintsOf(app, developers),
    authorize({ path }, body) {
      if (path.startsWith("/openapi/api")) {
        const { sign: _, ...unsigned } = body as Row;
        const { body: text, authorization } = signedRequest(unsigned, appKey);
        return { headers: { authorization }, text };
      }
      const sent = path.includes("/base/") ? { ...(body as Row), ...refresh(app, "media-token") } : body;
      const authorization = path.includes("/event/stream") ? app.appKey : admin;
      return { headers: { authorization: `Bearer ${authorization}` }, text: JSON.stringify(sent) ?? "" };
    },
  };
}

type Fault = { call: string; damage: string; fault: string; sent: string };

/** Every operation with every damage, again and again, until the time is over. */
async function fuzz(
  operations: readonly Operation[],
  world: World,
): Promise<{ faults: Fault[]; codes: Map<number, number> }> {
  const client = new FuzzClient(server.url, AT_ONCE);
  const random = new Random(SEED);
  const faults: Fault[] = [];
  const codes = new Map<number, number>();
  const until = Date.now() + SECONDS * 1000;
  const queue = (function* () {
    for (let round = 0; round === 0 || Date.now() < until; round += 1) {
      for (const damage of DAMAGES) {
        for (const operation of operations) {
          // Bombs take time of ours, not of the server's: a few of them are enough.
          if (damage === "gzip_bomb" && random.chance(0.7)) continue;
          yield fuzzRequest(operation, damage, random, world);
          if (round > 0 && Date.now() > until) return;
        }
      }
    }
  })();
  const judge = (request: FuzzRequest, answer: FuzzAnswer | Error) => {
    const fault = answer instanceof Error ? `no answer: ${answer.message}` : faultOf(request, answer, ALL_CODES);
    if (!(answer instanceof Error)) {
      const code = /^\{[^{]*"code":(\d+)/.exec(answer.body)?.[1];
      if (code) codes.set(Number(code), (codes.get(Number(code)) ?? 0) + 1);
    }
    if (!fault) return;
    const { method, url, damage, body, headers } = request;
    const sent = `${JSON.stringify(headers)} ${body?.subarray(0, 500).toString("latin1")}`;
    faults.push({ call: `${method} ${url.slice(0, 300)}`, damage, fault, sent });
  };
  const worker = async () => {
    for (const request of queue) {
      const answer = await client.send(request).catch((error: Error) => error);
      judge(request, answer);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  client.close();
  return { faults, codes };
}

/** Many requests find the same fault. */
function oneOfEach(faults: readonly Fault[]): Fault[] {
  const kinds = new Map(faults.map((one) => [`${one.call.split("?")[0]} ${one.fault}`, one]));
  return [...kinds.values()].slice(0, 10);
}

async function expectLedgersToAddUp(): Promise<void> {
  await server.settle();
  const pool = server.database();
  const { rows } = await pool.query(
    `select app_id, minute_ms, sum(events) filter (where outcome = 'received')::int as received,
       sum(events) filter (where outcome <> 'received')::int as told, array_agg(distinct outcome) as outcomes
     from ledger_minute group by 1, 2`,
  );
  expect(rows.length).toBeGreaterThan(0);
  const known = ["received", "stored", "duplicate", ...REJECTIONS];
  for (const row of rows) {
    expect(row.told).toBe(row.received);
    expect(row.outcomes.filter((outcome: string) => !known.includes(outcome))).toEqual([]);
  }
  const touches = await pool.query(
    "select sum(case when outcome = 'received' then events else -events end)::int as rest from touch_minute",
  );
  expect(touches.rows).toEqual([{ rest: 0 }]);
  const aside = await pool.query("select reason, encode(payload, 'escape') as payload from set_aside limit 5");
  expect(aside.rows, "what was acknowledged is understood").toEqual([]);
  await pool.end();
}

test("whatever is sent, the answer is HTTP and the envelope, nothing is our fault, and the ledger adds up", {
  timeout: 120_000,
}, async () => {
  const app = await server.createApp();
  const developer = await reports.developer();
  const spare = [await reports.developer(), await reports.developer()].map(({ developerId }) => developerId);
  for (let client = 0; client < 20; client += 1) await server.register(app, `client-${client}`);
  const openApi = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  const operations = operationsOf(openApi);
  expect(operations.length).toBeGreaterThan(40);
  const { faults, codes } = await fuzz(operations, worldOf(app, developer.appKey, spare));
  expect(oneOfEach(faults)).toEqual([]);
  // Else the generator would be knocking at closed doors.
  for (const code of [0, 1001, 1004, 1404, 1405, 1413]) expect(codes.get(code) ?? 0, `code ${code}`).toBeGreaterThan(0);
  expect(codes.get(0)!).toBeGreaterThan(100);
  expect(await server.get("/healthz")).toMatchObject({ code: 0 });
  expect(await server.register(app, "afterwards")).toMatchObject({ code: 0 });
  const figures = await (await fetch(`${server.url}/metrics`)).text();
  expect(Number(/^touchpoint_resident_memory_bytes (\S+)/m.exec(figures)?.[1])).toBeLessThan(MEMORY_BYTES_MAX);
  await expectLedgersToAddUp();
  expect(server.output).not.toContain('"level":"error"');
  for (const line of server.output.split("\n").filter((text) => text.startsWith("{"))) {
    expect(() => JSON.parse(line)).not.toThrow();
  }
});
