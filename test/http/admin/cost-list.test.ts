import { beforeAll, describe, expect, test } from "vitest";
import { costDaysAnswer, costRowsAnswer, costStatusAnswer, takenFileAnswer } from "../../../src/contract/admin/cost.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");

const RANGE = { from: "2024-06-01", to: "2024-06-30" };
const HEADER = "date,ad_platform,advertiser_id,gid,aid,impressions,clicks,cost";
const ROWS = [
  "2024-06-14,tencent,acc-1,g1,a1,100,10,1.5",
  "2024-06-15,tencent,acc-1,g1,a1,200,20,2.25",
  "2024-06-15,tencent,acc-1,g1,a2,300,30,4.0001",
  "2024-06-15,vivo,acc-2,g2,a3,1,0,0",
  "2024-06-13,,,,,,,9",
  "2024-07-01,tencent,acc-1,g1,a1,1000,100,100",
];

let app: App;
beforeAll(async () => {
  app = await server.createApp();
  const csv = `${HEADER}\n${ROWS.join("\n")}\n`;
  dataOf(await admin.post("cost/import", { app_id: app.appId, csv }), takenFileAnswer);
  const names = `ad_platform,advertiser_id,name\ntencent,acc-1,腾讯一\n`;
  dataOf(await admin.post("advertiser/import", { csv: names }), takenFileAnswer);
});

const days = async (query: Row = {}) =>
  dataOf(await admin.get("cost", { app_id: app.appId, ...RANGE, ...query }), costDaysAnswer);
const rows = async (query: Row = {}) =>
  dataOf(await admin.get("cost/rows", { app_id: app.appId, ...RANGE, ...query }), costRowsAnswer);

describe("stored costs", () => {
  test("are summed by day and account, newest day first", async () => {
    const { days: found, total, page_info } = await days();
    const file = { source: "file", changed_at: expect.stringMatching(/^\d{4}-\d\d-\d\d /) };
    const tencent = { ad_platform: "tencent", advertiser_id: "acc-1", advertiser_name: "腾讯一", ...file };
    expect(found).toEqual([
      { date: "2024-06-15", ...tencent, rows: 2, impressions: 500, clicks: 50, cost: 6.2501, not_by_ad: 0 },
      {
        date: "2024-06-15",
        ad_platform: "vivo",
        advertiser_id: "acc-2",
        advertiser_name: "",
        ...file,
        rows: 1,
        impressions: 1,
        clicks: 0,
        cost: 0,
        not_by_ad: 0,
      },
      { date: "2024-06-14", ...tencent, rows: 1, impressions: 100, clicks: 10, cost: 1.5, not_by_ad: 0 },
      {
        date: "2024-06-13",
        ad_platform: "",
        advertiser_id: "",
        advertiser_name: "",
        ...file,
        rows: 1,
        impressions: 0,
        clicks: 0,
        cost: 9,
        not_by_ad: 9,
      },
    ]);
    expect(total).toEqual({ rows: 5, impressions: 601, clicks: 60, cost: 16.7501 });
    expect(page_info).toEqual({ page: 1, page_size: 20, total_number: 4, total_page: 1 });
  });

  test("come page by page, with the total of all", async () => {
    const pages = await Promise.all([1, 2].map((page) => days({ page, page_size: 2 })));
    expect(pages.map((page) => page.days.length)).toEqual([2, 2]);
    for (const { total, page_info } of pages) expect([total.cost, page_info.total_page]).toEqual([16.7501, 2]);
  });

  test("can be filtered by platform and account", async () => {
    expect((await days({ ad_platform: "gdt" })).days).toHaveLength(2);
    expect((await days({ ad_platform: "vivo", advertiser_id: "acc-2" })).days).toHaveLength(1);
    expect((await days({ ad_platform: "-" })).days).toMatchObject([{ ad_platform: "", advertiser_id: "", cost: 9 }]);
    expect((await rows({ ad_platform: "-", advertiser_id: "-" })).rows).toMatchObject([{ cost: 9 }]);
    expect(await days({ advertiser_id: "nobody" })).toMatchObject({ days: [], total: { rows: 0, cost: 0 } });
  });

  test("open row by row, the most expensive of a day first", async () => {
    const day = { from: "2024-06-15", to: "2024-06-15", ad_platform: "tencent", advertiser_id: "acc-1" };
    const { rows: found, page_info } = await rows(day);
    expect(found.map(({ aid, cost }: Row) => [aid, cost])).toEqual([
      ["a2", 4.0001],
      ["a1", 2.25],
    ]);
    expect(page_info.total_number).toBe(2);
    expect((await rows({ ...day, page: 2, page_size: 1 })).rows).toMatchObject([{ aid: "a1" }]);
  });

  test("say whether they were pulled or uploaded", async () => {
    const pulled = await server.createApp();
    const post = (csv: string) => admin.post("cost/import", { app_id: pulled.appId, csv: `${HEADER}\n${csv}` });
    await post(
      "2024-06-13,vivo,x,,1,,,1\n2024-06-14,vivo,x,,1,,,1\n2024-06-14,vivo,x,,2,,,1\n2024-06-15,vivo,x,,1,,,1\n",
    );
    await tables.query(
      `insert into cost_pull select app_id, ad_platform, advertiser_id, day, 1700000000000, 1, 10000 from cost
        where app_id = $1 and day < '2024-06-15' and aid = '1'`,
      [pulled.appId],
    );
    await tables.query(
      "update cost set changed_at_ms = 1700000000000 where app_id = $1 and day < '2024-06-15' and aid = '1'",
      [pulled.appId],
    );
    const { days: found } = dataOf(await admin.get("cost", { app_id: pulled.appId, ...RANGE }), costDaysAnswer);
    expect(found.map(({ date, source }: Row) => `${date} ${source}`)).toEqual([
      "2024-06-15 file",
      "2024-06-14 both",
      "2024-06-13 pull",
    ]);
  });

  test("of one app are separate from those of another", async () => {
    const other = await server.createApp();
    const { days: found } = dataOf(await admin.get("cost", { app_id: other.appId, ...RANGE }), costDaysAnswer);
    expect(found).toEqual([]);
  });

  test.each<[Row, RegExp, number?]>([
    [{ from: undefined }, /from/],
    [{ from: "2024-02-30" }, /^from and to must be days/],
    [{ from: "2024-07-01" }, /^from is after to/],
    [{ to: "x" }, /to/],
    [{ ad_platform: "my space" }, /^ad_platform is not the name/],
    [{ page_size: "501" }, /page_size/],
    [{ app_id: "999999999" }, /app_id/, 2001],
  ])("are refused for %j", async (change, msg, code = 1004) => {
    const asked = Object.entries({ app_id: String(app.appId), ...RANGE, ...change }).filter(([, value]) => value);
    for (const path of ["cost", "cost/rows"]) {
      const answer = await admin.get(path, Object.fromEntries(asked));
      expect(answer).toMatchObject({ status: 200, code, msg: expect.stringMatching(msg), data: {} });
    }
  });
});

describe("the progress of pulls", () => {
  let own: App;
  beforeAll(async () => {
    own = await server.createApp();
    const account = { app_id: own.appId, ad_platform: "tencent", advertiser_id: "77", postbacks: "off", costs: "on" };
    // No server listens there: nothing is pulled but what the test stores.
    const settings = { base_url: "http://127.0.0.1:9/" };
    expect(await admin.post("accounts/set", { ...account, settings })).toMatchObject({ code: 0 });
    await tables.query(
      `insert into cost_pull select $1, 'tencent', '77', day, (extract(epoch from day) * 1000)::bigint + 86400000 * later, 3, 20000
        from (values ('2024-06-14'::date, 9), ('2024-06-15', 2), ('2024-03-01', 9)) as pulled (day, later)`,
      [own.appId],
    );
  });
  const status = async (query: Row) =>
    dataOf(await admin.get("cost/status", { app_id: own.appId, ...query }), costStatusAnswer);

  test("is shown by day, with the settled days", async () => {
    const { accounts } = await status(RANGE);
    expect(accounts).toMatchObject([{ ad_platform: "tencent", advertiser_id: "77" }]);
    const unchecked = { total: null, not_by_ad: 0 };
    expect(accounts[0].days).toEqual([
      { date: "2024-06-14", pulled_at: "2024-06-23 08:00:00", rows: 3, cost: 2, ...unchecked, settled: true },
      { date: "2024-06-15", pulled_at: "2024-06-17 08:00:00", rows: 3, cost: 2, ...unchecked, settled: false },
    ]);
    expect((await status({})).accounts[0].days).toEqual([]);
  });

  test.each<[Row, RegExp]>([
    [{ from: "2024-01-01", to: "2024-06-01" }, /^At most 92 days/],
    [{ from: "2024-06-01" }, /^from and to must be days/],
    [{ from: "2024-06-02", to: "2024-06-01" }, /^from is after to/],
  ])("is refused for %j", async (query, msg) => {
    const answer = await admin.get("cost/status", { app_id: own.appId, ...query });
    expect(answer).toMatchObject({ code: 1004, msg: expect.stringMatching(msg), data: {} });
  });
});

test("an analyst sees costs and previews files, and changes nothing", async () => {
  const app_id = app.appId;
  for (const path of ["cost", "cost/rows", "cost/status", "cost/pull"])
    expect(await analyst.get(path, { app_id, ...RANGE }), path).toMatchObject({ code: 0 });
  expect(await analyst.post("cost/import/preview", { app_id, csv: "date\n" })).toMatchObject({ code: 0 });
  for (const path of ["cost/import", "advertiser/import", "ad-object/import", "cost/pull", "cost/pull/stop"])
    expect(await analyst.post(path, { app_id, csv: "date\n2024-06-20\n" }), path).toMatchObject({ code: 2004 });
});
