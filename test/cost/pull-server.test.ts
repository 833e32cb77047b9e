import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CostRow } from "../../sim/platforms/costs.ts";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { signedRequest } from "../../src/client/report-client.ts";
import { costPullAnswer, lastPullAnswer } from "../../src/contract/admin/cost.ts";
import type { App } from "../../src/db/app.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { addDays, calendarOf } from "../../src/domain/calendar.ts";
import { openVault } from "../../src/vault.ts";
import { cli, cliJson, expectFailure } from "../cli/run.ts";
import { adReportOf } from "../http/report/reports.ts";
import { AdminCaller, dataOf } from "../support/admin-caller.ts";
import { untilTodayLasts } from "../support/midnight.ts";
import { eventually } from "../support/patience.ts";
import { answerOf, cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { ACCESS, ACCOUNT, spent } from "./stage.ts";

await untilTodayLasts();
const TODAY = calendarOf("Asia/Shanghai").dayOf(Date.now());
const ago = (days: number) => addDays(TODAY, -days);
/** All roles but the schedule: only pulls requested by a test happen. */
const BY_HAND = { ROLES: "http,apply,refresh" };

let server: TouchpointProcess;
let engine: OceanEngineStandIn;
let tencent: TencentStandIn;
let rows: CostRow[];
let app: App;
/** Calls the current server: some tests start another one. */
const admin = () => new AdminCaller(server);

beforeAll(async () => {
  rows = [spent(TODAY, 1, 1234), spent(TODAY, 2, 66)];
  engine = await startOceanEngine({ costs: rows, pageRows: 1 });
  tencent = await startTencent({ accounts: [ACCOUNT] });
  server = await TouchpointProcess.start({ env: BY_HAND });
  app = await server.createApp();
  for (const access of [ACCESS.bytedance(engine), ACCESS.tencent(tencent)]) await account(access);
});
afterAll(async () => {
  await Promise.all([engine.close(), tencent.close()]);
  expect(await server.stop()).toBe(0);
  await cleanUp(server.dataDir);
});

async function account(access: ReturnType<(typeof ACCESS)["tencent"]>): Promise<void> {
  const pool = server.database();
  const vault = openVault({ dataDir: server.dataDir, secretKey: "" });
  const rest = {
    postbacks: false,
    costs: true,
    ratePerS: 10,
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
  await storeAccount(pool, vault, { appId: app.appId, advertiserId: ACCOUNT, ...rest, ...access }, Date.now());
  await pool.end();
}

const costRows = async (): Promise<number> => {
  const pool = server.database();
  const { rows: found } = await pool.query("select count(*)::int as count from cost");
  await pool.end();
  return found[0].count;
};

test("a command pulls now: a table for people, JSON for programs, and the errors by account", async () => {
  tencent.fail = () => "server_error";
  const result = await cli(server.dataDir, ["cost", "pull", "--app", String(app.appId)]);
  expect(result.code).toBe(1);
  expect(result.stderr).toContain("Pulling costs 100 %");
  const [head, ...lines] = result.stdout.trimEnd().split("\n");
  expect(head).toMatch(/^ad_platform +advertiser_id +days +rows +cost \(CNY\) +error$/);
  expect(lines[0]).toMatch(new RegExp(`^bytedance +${ACCOUNT} +30 +2 +13$`));
  expect(lines[1]).toMatch(new RegExp(`^tencent +${ACCOUNT} +0 +0 +0 +Tencent answered HTTP status 500\\.$`));
  tencent.fail = () => undefined;
  const some = ["--platform", "gdt", "--advertiser", ACCOUNT, "--from", TODAY, "--to", TODAY];
  expect(await cliJson(server.dataDir, ["cost", "pull", "--app", String(app.appId), ...some])).toEqual([
    { ad_platform: "tencent", advertiser_id: ACCOUNT, days: 1, rows: 0, cost: 0, error: "" },
  ]);
});

test("a command shows the progress of each account", async () => {
  const status = await cliJson(server.dataDir, ["cost", "status", "--app", String(app.appId)]);
  expect((await cli(server.dataDir, ["cost", "status", "--app", String(app.appId)])).stdout).toMatch(
    /^ad_platform .* error +reach_days +first_day +notes/,
  );
  expect(status.map((one: any) => [one.ad_platform, one.failures, one.error]).sort()).toEqual([
    ["bytedance", 0, ""],
    ["tencent", 0, ""],
  ]);
  const own = status.find((one: any) => one.ad_platform === "bytedance");
  expect(own.last_pull).toMatch(new RegExp(`^${TODAY} \\d\\d:\\d\\d:\\d\\d$`));
  expect(own.settled_until).toBe(calendarOf("UTC").dayOf(Date.parse(TODAY) - 8 * 86_400_000));
});

test.each([
  [["--from", TODAY], /both from and to/],
  [["--from", TODAY, "--to", "2020-01-01"], /to is before from/],
  [["--from", TODAY, "--to", "2999-01-01"], /in the future/],
  [["--from", "2020-01-01", "--to", TODAY], /At most 366 days/],
  [["--platform", "kuaishou"], /no matching account/],
  [
    ["--platform", "tencent", "--from", ago(400), "--to", ago(399)],
    new RegExp(`Reports of Tencent reach back 365 days: the first day .* ${ACCOUNT} is ${ago(364)}\\.`),
  ],
])("a pull of %j is refused", async (options, reason) => {
  expectFailure(await cli(server.dataDir, ["cost", "pull", "--app", String(app.appId), ...options]), reason);
});

test("pulls and progress work over HTTP too", async () => {
  rows[0]!.cents = 2_000;
  const pulled = await admin().post("cost/pull", {
    app_id: app.appId,
    ad_platform: "bytedance",
    from: TODAY,
    to: TODAY,
  });
  expect(pulled).toMatchObject({
    status: 200,
    code: 0,
    data: { accounts: [{ ad_platform: "bytedance", days: 1, rows: 2, cost: 20.66, error: "" }] },
  });
  const status = await admin().get("cost/status", { app_id: app.appId });
  const reach = status.data.accounts.map((one: any) => [one.ad_platform, one.reach_days, one.first_day, one.notes]);
  expect(reach.sort()).toEqual([
    ["bytedance", null, "", []],
    ["tencent", 365, ago(364), []],
  ]);
  const beyond = { app_id: app.appId, from: ago(365), to: ago(360) };
  expect(await admin().post("cost/pull", beyond)).toMatchObject({
    code: 1004,
    msg: expect.stringMatching(/^Reports of Tencent reach back 365 days/),
  });
  expect(await admin().post("cost/pull", { app_id: app.appId, from: "2026-02-30", to: TODAY })).toMatchObject({
    code: 1004,
  });
  expect(await admin().post("cost/pull", { app_id: app.appId, ad_platform: "vivo" })).toMatchObject({ code: 1004 });
  expect(await admin().post("cost/pull", { app_id: app.appId, ad_platform: "nobody" })).toMatchObject({ code: 1004 });
  expect(await admin().post("cost/pull", { app_id: 1 << 30 })).toMatchObject({ code: 2001 });
});

describe("a pull in the background", () => {
  const begin = () => admin().post("cost/pull", { app_id: app.appId, ad_platform: "bytedance", background: true });
  const last = async () => dataOf(await admin().get("cost/pull", { app_id: app.appId }), lastPullAnswer);

  test("starts, and reports its progress and result", async () => {
    const begun = dataOf(await begin(), costPullAnswer);
    expect(begun).toMatchObject({ state: "running", ended_at: "", accounts: [], error: "" });
    await eventually(async () => expect((await last()).pull.state).toBe("done"));
    const { pull } = await last();
    expect(pull).toMatchObject({ accounts: [{ ad_platform: "bytedance", error: "" }], error: "" });
    expect(pull.days_done).toBe(pull.days_total);
    expect(pull.ended_at >= pull.started_at).toBe(true);
  });

  test("can be stopped: stored costs stay, nobody else begins meanwhile, and the account has no error", async () => {
    const before = [await costRows(), engine.calls] as const;
    engine.fail = () => "hang";
    dataOf(await begin(), costPullAnswer);
    await eventually(() => expect(engine.calls).toBeGreaterThan(before[1]));
    expect(await begin()).toMatchObject({
      status: 503,
      code: 5003,
      msg: "Costs of this app are already being pulled; try again later.",
    });
    expect(await admin().post("cost/pull/stop", { app_id: app.appId })).toMatchObject({ code: 0 });
    await eventually(async () => expect((await last()).pull.state).toBe("stopped"));
    engine.fail = () => undefined;
    expect((await last()).pull.accounts).toMatchObject([{ error: "The pull was stopped." }]);
    expect(await costRows()).toBe(before[0]);
    const { accounts } = (await admin().get("cost/status", { app_id: app.appId })).data;
    expect(accounts.map(({ failures, error }: any) => [failures, error])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    expect(await admin().post("cost/pull/stop", { app_id: app.appId })).toMatchObject({
      code: 1004,
      msg: "No costs of this app are being pulled.",
    });
  });

  test("is null for an app without one", async () => {
    const other = await server.createApp();
    const data = dataOf(await admin().get("cost/pull", { app_id: other.appId }), lastPullAnswer);
    expect(data).toEqual({ pull: null });
  });
});

test("the ad report shows pulled costs, with the names of the account, the plans and the ads", async () => {
  const developer = ["developer", "create", "--name", "BI", "--purpose", "tests", "--apps", "all", "--approve"];
  const { app_key } = await cliJson(server.dataDir, developer);
  const report = {
    metrics_list: ["AdCost"],
    dims_list: ["ad_platform", "advertiser_id", "gid", "aid"],
    dims_metrics_list: ["advertiser_name", "gName", "AidName", "AidStatus"],
  };
  const { body, authorization } = signedRequest(adReportOf(app, report), app_key);
  const url = `${server.url}/openapi/api/v1/report/combo_sql/`;
  const { code, msg, data } = await answerOf(await fetch(url, { method: "POST", headers: { authorization }, body }));
  expect([code, msg]).toEqual([0, "success"]);
  const shared = { ad_platform: "bytedance", advertiser_id: ACCOUNT, advertiser_name: `Account ${ACCOUNT}` };
  expect(data.items).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        ...shared,
        AdCost: 20,
        gName: rows[0]!.planName,
        AidName: rows[0]!.adName,
        AidStatus: "OK",
      }),
      expect.objectContaining({ ...shared, AdCost: 0.66, gName: rows[1]!.planName, AidName: rows[1]!.adName }),
    ]),
  );
  expect(data.total[0]).toMatchObject({ AdCost: 20.66 });
});

test("the role pulls by schedule as soon as it runs; killed between two pages it has stored nothing", async () => {
  await emptied();
  await server.stop();
  const asked = engine.calls;
  engine.fail = (call) => (call > asked + 2 ? "hang" : undefined);
  server = await TouchpointProcess.start({ dataDir: server.dataDir, env: { ROLES: "http,apply,cost" } });
  await eventually(() => expect(engine.calls).toBe(asked + 3));
  await server.kill();
  engine.fail = () => undefined;
  server = await TouchpointProcess.start({ dataDir: server.dataDir, env: BY_HAND });
  expect(await costRows()).toBe(0);
  await server.stop();
  server = await TouchpointProcess.start({ dataDir: server.dataDir });
  await eventually(async () => expect(await costRows()).toBe(2));
});

test("a server that waits for a platform stops at once", async () => {
  const before = engine.calls;
  engine.fail = () => "hang";
  const pull = async () => {
    // The schedule may still hold the account.
    while (engine.calls === before) await admin().post("cost/pull", { app_id: app.appId, ad_platform: "bytedance" });
  };
  const pulling = pull().catch(() => undefined);
  await eventually(() => expect(engine.calls).toBeGreaterThan(before));
  expect(await server.stop()).toBe(0);
  await pulling;
  engine.fail = () => undefined;
  server = await TouchpointProcess.start({ dataDir: server.dataDir, env: BY_HAND });
  // Had it waited for the platform's full time limit, the account would have an error.
  const { accounts } = (await admin().get("cost/status", { app_id: app.appId })).data;
  expect(accounts.map(({ error }: any) => error)).toEqual(["", ""]);
});

/** The state before the first pull. */
async function emptied(): Promise<void> {
  const pool = server.database();
  await pool.query("delete from cost; delete from cost_pull; delete from cost_attempt");
  await pool.end();
}
