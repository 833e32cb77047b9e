import { Readable } from "node:stream";
import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { takeRebates } from "../../src/admin/operation/cost-files.ts";
import { dropRebate, setRebate } from "../../src/admin/setting/rebates.ts";
import { loadRebates } from "../../src/db/rebate.ts";
import { shownRebate } from "../../src/domain/rebate.ts";
import { LIMITS } from "../../src/limits.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const NOVEMBER = { ad_platform: "tencent", advertiser_id: "7", start_date: "2026-11-01", end_date: "2026-11-30" };
const HEADER = "ad_platform,advertiser_id,start_date,end_date,cash_percent,credit_percent";
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

const given = (lines: readonly string[], app = app_id) => ({
  body: { csv: "", app_id: app },
  file: Readable.from([`${[HEADER, ...lines].join("\n")}\n`]),
});
const stored = async () => (await loadRebates(stage.pool, app_id)).map(shownRebate);

test("a rebate is set, replaced by its first day, and removed, and each is logged", async () => {
  const body = { app_id, ...NOVEMBER, ad_platform: "GDT", cash_percent: 3.5 };
  const set = await setRebate(stage.desk, body);
  expect(set).toEqual({ ...NOVEMBER, cash_percent: 3.5, credit_percent: 0 });
  const { end_date: _, ...open } = { app_id, ...NOVEMBER, credit_percent: 10 };
  await setRebate(stage.desk, open);
  expect(await stored()).toEqual([{ ...NOVEMBER, end_date: "", cash_percent: 0, credit_percent: 10 }]);
  const key = { app_id, ad_platform: "tencent", advertiser_id: "7", start_date: "2026-11-01" };
  await dropRebate(stage.desk, key);
  expect(await stored()).toEqual([]);
  expect((await stage.audit()).slice(1)).toEqual([
    { action: "rebates/set", appId: app_id, details: body },
    { action: "rebates/set", appId: app_id, details: open },
    { action: "rebates/remove", appId: app_id, details: key },
  ]);
});

test("a file is taken as a whole, with percent signs and empty cells, next to what is stored", async () => {
  await setRebate(stage.desk, { app_id, ...NOVEMBER });
  const lines = ["tencent,7,2026-12-01,,5%,", "gdt,7,2026-11-01,2026-11-30,,2.25", "vivo,,2026-11-01,,1,1"];
  expect(await takeRebates(stage.desk, given(lines))).toBe(3);
  expect(await stored()).toEqual([
    { ...NOVEMBER, start_date: "2026-12-01", end_date: "", cash_percent: 5, credit_percent: 0 },
    { ...NOVEMBER, cash_percent: 0, credit_percent: 2.25 },
    { ...NOVEMBER, ad_platform: "vivo", advertiser_id: "", end_date: "", cash_percent: 1, credit_percent: 1 },
  ]);
  expect((await stage.audit()).at(-1)).toEqual({ action: "rebate/import", appId: app_id, details: { app_id } });
});

const set = (change: object, app = app_id) => setRebate(stage.desk, { app_id: app, ...NOVEMBER, ...change });
const take = (...lines: string[]) => takeRebates(stage.desk, given(lines));
const drop = (start_date: string) =>
  dropRebate(stage.desk, { app_id, ad_platform: "tencent", advertiser_id: "7", start_date });

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["more than the whole cost", () => set({ cash_percent: 200 }), /^cash_percent must be between 0 and 99\.99/],
  ["too much credit", () => set({ credit_percent: 200 }), /^credit_percent must be between 0 and 100/],
  ["an impossible day", () => set({ start_date: "2026-11-31" }), /^start_date must look like 2026-11-15/],
  ["a text instead of a number", () => set({ cash_percent: "5" }), /^cash_percent must/],
  ["an unknown platform", () => set({ ad_platform: "natural" }), /^ad_platform is not the name of a platform/],
  ["an unknown app", () => set({}, 99), /no app 99/],
  [
    "an overlap",
    () => set({ start_date: "2026-11-30", end_date: "2026-11-30" }),
    /^the rebates of tencent 7 overlap: 2026-11-01 to 2026-11-30 and 2026-11-30 to 2026-11-30\.$/,
  ],
  ["no rebate to remove", () => drop("2026-11-02"), /has no rebate of this account from 2026-11-02 on/],
  [
    "a file that overlaps what is stored",
    () => take("tencent,7,2026-10-01,2026-11-01,,"),
    /2026-10-01 to 2026-11-01 and/,
  ],
  ["a file that overlaps itself", () => take("oppo,1,2026-01-01,,,", "oppo,1,2026-02-01,,,"), /oppo 1 overlap/],
  [
    "a bad line",
    () => take("oppo,1,2026-01-01,,,", "oppo,1,,,,"),
    /^Nothing was imported; line 3: start_date must look/,
  ],
  ["a bad share", () => take("oppo,1,2026-01-01,,200,"), /line 2: cash_percent must be between 0 and 99\.99/],
  [
    "a share in words",
    () => take("oppo,1,2026-01-01,,half,"),
    /line 2: cash_percent must be a percentage such as 3\.5/,
  ],
  ["the same line twice", () => take("oppo,1,2026-01-01,,,", "oppo,1,2026-01-01,,,"), /same key as line 2/],
  [
    "too many",
    () => take(...Array.from({ length: LIMITS.rebatesPerApp }, (_, at) => `oppo,${at},2026-01-01,,1,`)),
    /at most 20000 rebates/,
  ],
])("%s is refused from every caller, and nothing is changed or logged", async (_, refused, sentence) => {
  const before = [await stored(), await stage.count("audit_log")];
  await expect(refused()).rejects.toThrow(sentence);
  expect([await stored(), await stage.count("audit_log")]).toEqual(before);
});

test("two people who set overlapping periods at the same time cannot both succeed", async () => {
  const asked = ["2026-06-01", "2026-06-15"].map((start_date) =>
    set({ start_date, advertiser_id: "race", end_date: "" }),
  );
  const done = await Promise.allSettled(asked);
  expect(done.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});
