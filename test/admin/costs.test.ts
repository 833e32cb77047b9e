import { Readable } from "node:stream";
import { beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { takeAdObjects, takeAdvertisers, takeCosts } from "../../src/admin/operation/cost-files.ts";
import { beginPull, stopPull } from "../../src/admin/operation/cost-pulls.ts";
import { setAccount } from "../../src/admin/setting/accounts.ts";
import { PullDesk } from "../../src/cost/pull-desk.ts";
import type { CostPuller } from "../../src/cost/puller.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
  const account = { app_id, ad_platform: "tencent", advertiser_id: "7", costs: "on" } as const;
  await setAccount({ ...stage.desk, mayCallPrivate: false }, account);
});

const given = (csv: string, app?: number) => ({
  body: { csv: "", ...(app !== undefined && { app_id: app }) },
  file: Readable.from([csv]),
});
const COST = "date,cost\n2023-11-14,1\n";
const notes = async () => (await stage.audit()).slice(2);
/** Costs and names that are stored, and notes. */
const state = () => Promise.all(["cost", "advertiser", "ad_object", "audit_log"].map((table) => stage.count(table)));

describe("files", () => {
  test("are taken in and noted; a file that came in a body with its beginning", async () => {
    expect(await takeCosts(stage.desk, given(COST, app_id))).toBe(1);
    expect(await takeAdvertisers(stage.desk, given("ad_platform,advertiser_id\nvivo,1\n"))).toBe(1);
    const csv = "ad_platform,level,id\nvivo,ad,1\n";
    expect(await takeAdObjects(stage.desk, { body: { csv }, file: Readable.from([csv]) })).toBe(1);
    expect(await notes()).toEqual([
      { action: "cost/import", appId: app_id, details: { app_id } },
      { action: "advertiser/import", appId: null, details: {} },
      { action: "ad-object/import", appId: null, details: { csv } },
    ]);
  });

  test("that cannot be noted are not taken in", async () => {
    const before = await stage.count("cost");
    await stage.withoutAuditLog(async () => {
      await expect(takeCosts(stage.desk, given("date,cost\n2023-11-13,1\n", app_id))).rejects.toThrow(/audit_log/);
    });
    expect(await stage.count("cost")).toBe(before);
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ["costs of no app", () => takeCosts(stage.desk, given(COST)), /^app_id is missing/],
    ["costs of an unknown app", () => takeCosts(stage.desk, given(COST, 99)), /no app 99/],
    ["a wrong line", () => takeCosts(stage.desk, given(`${COST}x,1\n`, app_id)), /^Nothing was imported; line 3/],
    ["a wrong column", () => takeAdvertisers(stage.desk, given(COST)), /no column/],
  ])("with %s are refused wherever they come from, and nothing is noted", async (_, refused, sentence) => {
    const before = await state();
    await expect(refused()).rejects.toThrow(sentence);
    expect(await state()).toEqual(before);
  });
});

/** A pull that ends when it is stopped. */
class Pulls extends PullDesk {
  constructor() {
    const pull: CostPuller["pull"] = (_accounts, _plan, { signal } = {}) =>
      new Promise((resolve) => signal?.addEventListener("abort", () => resolve([])));
    super({ pull } as CostPuller, stage.desk.clock);
  }
}

describe("a requested pull", () => {
  const body = () => ({ app_id, ad_platform: "tencent", from: "2023-11-13", to: "2023-11-14" });

  test("is noted when it begins and when it is stopped", async () => {
    const before = (await notes()).length;
    const pulls = new Pulls();
    const { ended } = await pulls.start(app_id, () => beginPull(stage.desk, body()));
    await expect(pulls.start(app_id, () => beginPull(stage.desk, body()))).rejects.toThrow(/already being pulled/);
    await stopPull(stage.desk, pulls, { app_id });
    expect(await ended).toMatchObject({ state: "stopped" });
    expect((await notes()).slice(before)).toEqual([
      { action: "cost/pull", appId: app_id, details: body() },
      { action: "cost/pull/stop", appId: app_id, details: { app_id } },
    ]);
  });

  test("neither begins nor stops when that cannot be noted", async () => {
    const pulls = new Pulls();
    const start = () => pulls.start(app_id, () => beginPull(stage.desk, body()));
    await stage.withoutAuditLog(async () => {
      await expect(start()).rejects.toThrow(/audit_log/);
    });
    expect(pulls.of(app_id)).toBeUndefined();
    const { pull, ended } = await start();
    await stage.withoutAuditLog(async () => {
      await expect(stopPull(stage.desk, pulls, { app_id })).rejects.toThrow(/audit_log/);
    });
    expect(pull.state).toBe("running");
    pulls.stop(app_id);
    await ended;
  });

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ["an unknown app", () => beginPull(stage.desk, { app_id: 99 }), /no app 99/],
    ["half a range", () => beginPull(stage.desk, { app_id, from: "2023-11-14" }), /both from and to/],
    ["a day that is none", () => beginPull(stage.desk, { ...body(), from: "soon" }), /^soon is not a day/],
    ["an unknown platform", () => beginPull(stage.desk, { app_id, ad_platform: "natural" }), /^ad_platform/],
    ["no such account", () => beginPull(stage.desk, { app_id, advertiser_id: "8" }), /no matching account/],
    ["the end of none", () => stopPull(stage.desk, new Pulls(), { app_id }), /^No costs of this app/],
  ])("of %s is refused wherever it comes from, and nothing is noted", async (_, refused, sentence) => {
    const before = await stage.count("audit_log");
    await expect(refused()).rejects.toThrow(sentence);
    expect(await stage.count("audit_log")).toBe(before);
  });
});
