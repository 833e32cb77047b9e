import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { COST_COLUMNS, importAdObjects, importAdvertisers, importCosts } from "../../src/cost/file-import.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { LIMITS } from "../../src/limits.ts";
import { makeApp, migratedDatabase, rowsOf, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
let appId: number;
beforeAll(async () => {
  database = await migratedDatabase();
});
beforeEach(async () => {
  appId = (await makeApp(database.pool)).appId;
  await database.pool.query("truncate cost, advertiser, ad_object");
});
afterAll(() => database.drop());

const DAY = "2024-06-15";

const take = (csv: string | Buffer, changedAtMs = 1) =>
  inTransaction(database.pool, (tx) => importCosts(tx, Readable.from([Buffer.from(csv)]), { appId, changedAtMs }));

type Row = Record<string, unknown>;
const NOTHING = Object.fromEntries(COST_COLUMNS.map((name) => [name, ""]));

/** The app's costs, with the columns that are not empty. */
async function costs(): Promise<Row[]> {
  const rows = (await rowsOf(database.pool, "cost", ["app_id", "changed_at_ms"])) as Row[];
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== "" && value !== 0)));
}

async function sumCosts(pool: TempDatabase["pool"], appId: number): Promise<{ rows: number; costE4: number }> {
  const { rows } = await pool.query(
    'select count(*) as rows, coalesce(sum(cost_e4), 0)::bigint as "costE4" from cost where app_id = $1',
    [appId],
  );
  return rows[0];
}

describe("a file of costs", () => {
  test("is imported with all its columns", async () => {
    const csv = `${COST_COLUMNS.join(",")}\n${DAY},kuaishou,acc,g,a,k,feed,store,ios,campaign00000001,1000,20,12.5\n`;
    expect(await take(csv)).toBe(1);
    expect(await costs()).toEqual([
      {
        day: DAY,
        ad_platform: "kuaishou",
        advertiser_id: "acc",
        gid: "g",
        aid: "a",
        cid: "k",
        csite: "feed",
        channel: "store",
        os_platform: "ios",
        turbo_promoted_object_id: "campaign00000001",
        impressions: 1000,
        clicks: 20,
        cost_e4: 125_000,
      },
    ]);
  });

  const expected = [{ day: DAY, ad_platform: "tencent", aid: "7", cost_e4: 20_000 }];
  test.each<[string, string]>([
    ["columns in another order", `cost,aid,ad_platform,date\n2,7,tencent,${DAY}\n`],
    ["columns that are empty", `date,ad_platform,gid,aid,channel,impressions,clicks,cost\n${DAY},tencent,,7,,,,2\n`],
    ["a byte order mark", `\uFEFFdate,ad_platform,aid,cost\n${DAY},tencent,7,2\n`],
    ["the line ends of Windows", `date,ad_platform,aid,cost\r\n${DAY},tencent,7,2\r\n`],
    ["no line end after the last row", `date,ad_platform,aid,cost\n${DAY},tencent,7,2`],
    ["empty lines", `date,ad_platform,aid,cost\n\n${DAY},tencent,7,2\n\n\n`],
    ["quoted cells", `"date","ad_platform",aid,"cost"\n"${DAY}",tencent,"7","2"\n`],
    ["a header in capitals", `DATE,Ad_Platform,AID,Cost\n${DAY},tencent,7,2\n`],
    ["blanks around the cells", `date , ad_platform, aid ,cost\n ${DAY}, tencent ,7 , 2\n`],
    ["another name of the platform", `date,ad_platform,aid,cost\n${DAY},gdt,7,2\n`],
    ["more decimals than needed", `date,ad_platform,aid,cost\n${DAY},tencent,7,2.0000\n`],
  ])("may have %s", async (_, csv) => {
    expect(await take(csv)).toBe(1);
    expect(await costs()).toEqual(expected);
  });

  test("may name only the day", async () => {
    expect(await take(`date\n${DAY}\n`)).toBe(1);
    expect(await costs()).toEqual([{ day: DAY }]);
  });

  test("may have no rows", async () => {
    expect(await take("date,cost\n")).toBe(0);
  });

  test("keeps names as they are: Chinese, commas, quotes, line breaks, formulas", async () => {
    const names = ["夏季推广", "a,b", 'say "hi"', "two\nlines", "=1+1", "+8613", "-7", "@x", "007", "1e3", "a'b\\"];
    const cell = (name: string) => `"${name.replaceAll('"', '""')}"`;
    expect(await take(`date,channel\n${names.map((name) => `${DAY},${cell(name)}\n`).join("")}`)).toBe(names.length);
    expect((await costs()).map(({ channel }) => channel).sort()).toEqual([...names].sort());
  });

  test.each<[string, number]>([
    ["0", 0],
    ["", 0],
    ["0.0001", 1],
    ["0.1", 1_000],
    ["0.29", 2_900],
    ["1.005", 10_050],
    ["00012.5", 125_000],
    ["4503599627.3705", 45_035_996_273_705],
    ["99999999999.9999", 999_999_999_999_999],
  ])("holds the cost %j exactly", async (cost, costE4) => {
    await take(`date,cost\n${DAY},${cost}\n`);
    expect(await sumCosts(database.pool, appId)).toEqual({ rows: 1, costE4 });
  });

  test("is put together again if a character is split between two chunks", async () => {
    const bytes = Buffer.from(`date,channel\n${DAY},夏季\n`);
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    await importCosts(database.pool, Readable.from(pieces), { appId, changedAtMs: 1 });
    expect((await costs())[0]).toEqual({ day: DAY, channel: "夏季" });
  });
});

describe("a second file", () => {
  const header = "date,ad_platform,aid,impressions,clicks,cost\n";

  test("replaces the first one's rows for the same ad and day, and keeps the rest", async () => {
    await take(`${header}${DAY},tencent,1,10,1,5\n${DAY},tencent,2,10,1,5\n2024-06-16,tencent,1,10,1,5\n`);
    expect(await take(`${header}${DAY},tencent,1,20,2,0.5\n${DAY},tencent,3,1,1,1\n`, 2)).toBe(2);
    expect(await sumCosts(database.pool, appId)).toEqual({ rows: 4, costE4: 5_000 + 50_000 + 50_000 + 10_000 });
    const { rows } = await database.pool.query(
      "select aid, changed_at_ms from cost where changed_at_ms = 2 order by 1",
    );
    expect(rows.map(({ aid }) => aid)).toEqual(["1", "3"]);
  });

  test.each<[string, string[], string[]]>([
    ["by ad", ["k1,4", "k2,6"], [",9"]],
    ["by other creatives", [",9"], ["k1,4", "k2,6"]],
    ["partly by creative", ["k1,4", "k2,6"], ["k1,5", ",3"]],
  ])("that tells an ad %s replaces all of it", async (_, first, second) => {
    const csv = (rows: string[]) =>
      `date,ad_platform,aid,creative,cost\n${rows.map((row) => `${DAY},tencent,1,${row}\n`).join("")}`;
    await take(`${csv(first)}${DAY},tencent,2,k1,1\n`);
    await take(csv(second), 2);
    const told = (await costs()).map(({ aid, cid = "", cost_e4 }) => [aid, `${cid},${Number(cost_e4) / 10_000}`]);
    expect(told.sort()).toEqual([...second.map((row) => ["1", row]), ["2", "k1,1"]].sort());
  });

  test("may hold an ad in rows far apart, of which all stay", async () => {
    const others = Array.from({ length: 2_500 }, (_, at) => `${DAY},tencent,other${at},,1\n`).join("");
    await take(`date,ad_platform,aid,creative,cost\n${DAY},tencent,1,k1,4\n${others}${DAY},tencent,1,k2,6\n`);
    const { rows } = await database.pool.query("select cid from cost where app_id = $1 and aid = '1' order by 1", [
      appId,
    ]);
    expect(rows).toEqual([{ cid: "k1" }, { cid: "k2" }]);
  });

  test("changes nothing if it is the same", async () => {
    const csv = `${header}${DAY},tencent,1,10,1,5\n${DAY},kuaishou,1,10,1,5\n`;
    await take(csv);
    const before = await costs();
    expect(await take(csv, 2)).toBe(2);
    expect(await costs()).toEqual(before);
  });

  test("leaves another app's rows alone", async () => {
    await take(`${header}${DAY},tencent,1,10,1,5\n`);
    const other = (await makeApp(database.pool)).appId;
    await importCosts(database.pool, Readable.from([`${header}${DAY},tencent,1,1,1,1\n`]), {
      appId: other,
      changedAtMs: 1,
    });
    expect(await sumCosts(database.pool, appId)).toEqual({ rows: 1, costE4: 50_000 });
    expect(await sumCosts(database.pool, other)).toEqual({ rows: 1, costE4: 10_000 });
  });
});

describe("nothing is imported from a file", () => {
  const expectRefused = async (csv: string, message: RegExp) => {
    await expect(take(csv)).rejects.toThrow(message);
    await expect(take(csv)).rejects.toThrow(/^Nothing was imported; .*\.$/s);
    expect(await costs()).toEqual([]);
  };

  test.each<[string, string, string, RegExp]>([
    ["5 decimals", "cost", "1.00001", /line 3: cost must be a number with up to 4 decimals/],
    ["a negative cost", "cost", "-1", /line 3: cost/],
    ["a cost with a sign", "cost", "+1", /line 3: cost/],
    ["a cost that is a text", "cost", "free", /line 3: cost/],
    ["a cost with an exponent", "cost", "1e3", /line 3: cost/],
    ["a cost with a comma", "cost", '"1,5"', /line 3: cost/],
    ["a cost without digits before the point", "cost", ".5", /line 3: cost/],
    ["a cost without digits after the point", "cost", "5.", /line 3: cost/],
    ["a cost of 12 digits", "cost", "100000000000", /line 3: cost/],
    ["a day that does not exist", "date", "2024-02-30", /line 3: date must look like 2026-11-15/],
    ["a day in another spelling", "date", "15/06/2024", /line 3: date/],
    ["a day with a time", "date", "2024-06-15 00:00", /line 3: date/],
    ["no day", "date", "", /line 3: date/],
    ["a platform that is no name", "ad_platform", "my space", /line 3: ad_platform is not the name of an ad platform/],
    ["the platform natural", "ad_platform", "natural", /line 3: ad_platform/],
    ["an unknown device type", "os_platform", "windows", /line 3: os_platform/],
    ["clicks that are no whole number", "clicks", "1.5", /line 3: clicks must be a whole number/],
    ["a negative number of impressions", "impressions", "-1", /line 3: impressions/],
    ["an id of 201 bytes", "aid", "x".repeat(201), /line 3: aid is longer than 200 bytes/],
    ["an id of 201 bytes in Chinese", "gid", "夏".repeat(67), /line 3: gid/],
    ["a null character", "channel", "a\u0000b", /line 3: channel/],
  ])("with %s", async (_, column, value, message) => {
    const row = { ...NOTHING, date: DAY, cost: "1" };
    const lines = [row, { ...row, aid: "2", [column]: value }].map((one) => Object.values(one).join(","));
    await expectRefused(`${Object.keys(row).join(",")}\n${lines.join("\n")}\n`, message);
  });

  test.each<[string, string, RegExp]>([
    ["an unknown column", `date,cost,price\n${DAY},1,1\n`, /line 1: there is no column "price"; columns are date,/],
    ["a column without a name", `date,,cost\n${DAY},1,1\n`, /line 1: there is no column ""/],
    ["no column date", "cost\n1\n", /line 1: the column date is missing/],
    ["a column twice", `date,cost,COST\n${DAY},1,1\n`, /line 1: the column cost is repeated/],
    ["too many cells in a row", `date,cost\n${DAY},1\n${DAY},1,5\n`, /line 3/],
    ["too few cells in a row", `date,aid,cost\n${DAY},1,1\n${DAY}\n`, /line 3/],
    ["a quote that is never closed", `date,channel\n${DAY},"a\n`, /line 2: a quote is opened and never closed/],
    ["text behind a quote", `date,channel\n${DAY},"a"b\n`, /line 2: a closing quote is followed by something other/],
    ["a quote within a cell", `date,channel\n${DAY},a"b\n`, /line 2: a cell with a quote in it must be in quotes/],
    [
      "a line without end",
      `date,channel\n${DAY},${"x".repeat(LIMITS.csvLineBytes)}\n`,
      /line 2: it is longer than 65,536/,
    ],
  ])("with %s", async (_, csv, message) => {
    await expectRefused(csv, message);
  });

  test("with two lines about the same ad, both of which are named", async () => {
    const header = "date,ad_platform,aid,cost\n";
    await expectRefused(
      `${header}${DAY},tencent,1,1\n${DAY},tencent,2,1\n${DAY},gdt,1,2\n`,
      /line 4: .*same key as line 2/,
    );
    expect(await take(`${header}${DAY},tencent,1,1\n${DAY},kuaishou,1,1\n2024-06-16,tencent,1,1\n`)).toBe(3);
  });

  test("with several bad rows, all of which are named by line", async () => {
    const rows = [`${DAY},"two\nlines",1`, `${DAY},b,x`, "yesterday,c,1", `${DAY},d,1`, `${DAY},e,-1`];
    const bad = /line 4: cost must.*; line 5: date must.*; line 7: cost must[^;]*$/;
    await expectRefused(`date,channel,cost\n${rows.join("\n")}\n`, bad);
    await expectRefused(`date,channel,cost\r\n${rows.join("\r\n")}\r\n`, bad);
  });

  test("with very many bad rows, of which the first ten are named", async () => {
    const error = await take(`date,cost\n${`${DAY},x\n`.repeat(50)}`).catch((reason: Error) => reason);
    const lines = [...String(error).matchAll(/line (\d+):/g)].map(([, line]) => Number(line));
    expect(lines).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test("with 5,000 rows of which only the last is bad", async () => {
    await take(`date,ad_platform,aid,cost\n${DAY},tencent,1,7\n`);
    const rows = Array.from({ length: 4_999 }, (_, index) => `${DAY},tencent,${index},1`);
    const csv = (last: string) => `date,ad_platform,aid,cost\n${rows.join("\n")}\n${last}\n`;
    await expect(take(csv(`${DAY},tencent,last,free`))).rejects.toThrow(/line 5001: cost/);
    expect(await sumCosts(database.pool, appId)).toEqual({ rows: 1, costE4: 70_000 });
    expect(await take(csv(`${DAY},tencent,last,1`))).toBe(5_000);
    expect(await sumCosts(database.pool, appId)).toEqual({ rows: 5_000, costE4: 50_000_000 });
  });
});

describe("names", () => {
  const advertisers = (csv: string) =>
    inTransaction(database.pool, (tx) => importAdvertisers(tx, Readable.from([csv])));
  const adObjects = (csv: string) => inTransaction(database.pool, (tx) => importAdObjects(tx, Readable.from([csv])));

  test("of accounts are imported, and replaced by the next file", async () => {
    expect(await advertisers("advertiser_id,ad_platform,name,dept\nacc,gdt,腾讯一,=d\nacc,kuaishou,K,\n")).toBe(2);
    expect(await advertisers("ad_platform,advertiser_id,name,status,remark,operator\nTENCENT,acc,T,on,r,ann\n")).toBe(
      1,
    );
    expect(await rowsOf(database.pool, "advertiser", ["app_id"])).toEqual([
      { ad_platform: "kuaishou", advertiser_id: "acc", name: "K", status: "", remark: "", operator: "", dept: "" },
      { ad_platform: "tencent", advertiser_id: "acc", name: "T", status: "on", remark: "r", operator: "ann", dept: "" },
    ]);
  });

  test("of plans and ads are imported, each level by itself", async () => {
    expect(await adObjects("ad_platform,level,id,name,status\ntencent,plan,1,计划,on\ntencent,ad,1,广告,off\n")).toBe(
      2,
    );
    expect(await adObjects("ad_platform,level,id,name\ntencent,ad,1,new\n")).toBe(1);
    expect(await rowsOf(database.pool, "ad_object", ["app_id"])).toEqual([
      { ad_platform: "tencent", level: "ad", object_id: "1", name: "new", status: "" },
      { ad_platform: "tencent", level: "plan", object_id: "1", name: "计划", status: "on" },
    ]);
  });

  test.each<[string, (csv: string) => Promise<number>, string, RegExp]>([
    [
      "an account without an id",
      advertisers,
      "ad_platform,advertiser_id\ntencent,a\ntencent,\n",
      /line 3: advertiser_id/,
    ],
    ["an account twice", advertisers, "ad_platform,advertiser_id\ntencent,a\ngdt,a\n", /line 3: .*line 2/],
    [
      "accounts without a column of ids",
      advertisers,
      "ad_platform,name\ntencent,a\n",
      /column advertiser_id is missing/,
    ],
    ["costs among the accounts", advertisers, "ad_platform,advertiser_id,cost\ntencent,a,1\n", /no column "cost"/],
    [
      "an unknown level",
      adObjects,
      "ad_platform,level,id\ntencent,group,1\n",
      /line 2: level must be plan, ad or creative/,
    ],
    ["an ad without an id", adObjects, "ad_platform,level,id\ntencent,ad,\n", /line 2: id is empty/],
    ["an ad twice", adObjects, "ad_platform,level,id\ntencent,ad,1\ntencent,ad,1\n", /line 3: .*line 2/],
  ])("are refused for %s", async (_, run, csv, message) => {
    await expect(run(csv)).rejects.toThrow(message);
    expect([await rowsOf(database.pool, "advertiser"), await rowsOf(database.pool, "ad_object")]).toEqual([[], []]);
  });
});
