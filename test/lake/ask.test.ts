import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { calendarOf } from "../../src/domain/calendar.ts";
import { type AskAnswer, ask } from "../../src/lake/ask.ts";
import { viewsFor } from "../../src/lake/lake-views.ts";
import { MIB } from "../../src/limits.ts";
import { DAY_MS, HOUR_MS, NOW_MS, pay, track } from "../db/apply-stage.ts";
import { LakeStage, takeInstance } from "./lake-stage.ts";

let stage: LakeStage;
let other: string;
beforeAll(async () => {
  stage = await LakeStage.open();
  other = await mkdtemp(join(tmpdir(), "other-"));
  await writeFile(join(other, "secret.csv"), "secret\n1\n");
  await stage.begin();
  await writeFile(join(stage.folder.spool, "rows.csv"), "secret");
  const { apply } = stage;
  await apply.register("a");
  const times = Array.from({ length: 96 }, (_, index) => NOW_MS - DAY_MS + (index * HOUR_MS) / 4);
  await apply.collect("a", [...times.map((time, n) => track("e", { n }, time)), pay("o", 600)]);
  await apply.applyAll();
  await stage.lake.catchUp();
  await stage.lake.catchUp();
});
afterAll(async () => {
  await stage.close();
  await rm(other, { recursive: true });
});

async function put(
  statement: string,
  more: { zone?: string; msMax?: number; rowsMax?: number; memoryBytes?: number } = {},
) {
  const files = (await stage.files()).map((file) => ({ ...file, path: stage.folder.pathOf(file) }));
  return ask(
    {
      ...viewsFor(files, { zone: more.zone ?? "Asia/Shanghai", statement }),
      files: files.map(({ path }) => path),
      rowsMax: more.rowsMax ?? 1_000,
      msMax: more.msMax ?? 60_000,
      root: stage.folder.root,
      diskBytes: 1_000 * MIB,
    },
    { takeInstance: () => takeInstance(more.memoryBytes) },
  );
}

const rowsOf = (answer: AskAnswer) => (answer.kind === "rows" ? answer.rows : answer);

test("a query reads the views of the app", async () => {
  expect(rowsOf(await put("select event, count(*) as n from events group by 1 order by 1"))).toEqual([
    ["$PayEvent", "1"],
    ["e", "96"],
  ]);
  const joined = `select u.ad_platform, sum(o.pay_cents) from orders o join users u using (client_id) group by 1`;
  expect(rowsOf(await put(joined))).toEqual([["natural", "600"]]);
  expect(rowsOf(await put("select count(*) from costs"))).toEqual([["0"]]);
});

test.each(["Asia/Shanghai", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"])(
  "local times are those of the app's calendar: %s",
  async (zone) => {
    const statement = `select epoch_ms("time"), strftime(local_time, '%Y-%m-%d %H:%M:%S') from events order by 1, 2`;
    const rows = rowsOf(await put(statement, { zone })) as [string, string][];
    expect(rows).toHaveLength(97);
    for (const [ms, local] of rows) expect(local).toBe(calendarOf(zone).textOf(Number(ms)));
  },
);

test("local times are right on both sides of a change of clocks", () => {
  const day = { kind: "events" as const, day: "2024-11-03", path: "/x", properties: [] };
  const [view] = viewsFor([day], { zone: "America/New_York", statement: "" }).views;
  expect(view).toContain(
    `when "time" < '2024-11-03 06:00:00.000'::TIMESTAMP then "time"::TIMESTAMP + interval (-14400) second`,
  );
  expect(view).toContain(`else "time"::TIMESTAMP + interval (-18000) second end`);
});

test("more rows than wanted are cut, and the answer says so", async () => {
  expect(await put("select 1 from range(10)", { rowsMax: 10 })).toMatchObject({ isCut: false });
  const cut = await put("select 1 from range(11)", { rowsMax: 10 });
  expect(cut).toMatchObject({ isCut: true });
  expect(rowsOf(cut)).toHaveLength(10);
});

describe("whoever writes the statement", () => {
  const file = () => stage.folder.pathOf({ appId: 1, kind: "events", day: "2024-06-15", name: "x" });

  test.each([
    ["another file", () => `select * from read_csv('${other}/secret.csv')`],
    ["a file by its name", () => `select * from '${other}/secret.csv'`],
    ["text of a file", () => `select * from read_text('${other}/secret.csv')`],
    ["what is being written", () => `select * from glob('${stage.folder.spool}/*')`],
    ["rows of other apps", () => `select * from read_text('${stage.folder.spool}/rows.csv')`],
    ["a blob", () => `select * from read_blob('/etc/passwd')`],
    ["a list of files", () => `select * from glob('${other}/*')`],
    ["another app", () => `select * from read_parquet('${file()}')`],
    ["a pattern", () => `select * from read_parquet('${stage.folder.root}/**/*.parquet')`],
    [
      "a way around",
      () => `select * from read_parquet('${stage.folder.root}/events/../../${"../".repeat(9)}etc/passwd')`,
    ],
    ["a sniffed file", () => `select * from sniff_csv('/etc/passwd')`],
    ["metadata of a file", () => `select * from parquet_metadata('${file()}')`],
    ["the network", () => `select * from read_csv('http://127.0.0.1:9/x.csv')`],
    ["the environment", () => `select getenv('HOME')`],
    ["a database", () => `select * from sqlite_scan('${other}/x.db', 'x')`],
  ])("cannot reach %s", async (_, statement) => {
    expect(await put(statement())).toMatchObject({ kind: "refused" });
  });

  test.each([
    ["copy (select 1) to '/tmp/out.csv'"],
    ["copy (select 1) to 'x.parquet'"],
    ["attach '/tmp/x.db'"],
    ["create table x as select 1"],
    ["create or replace view events as select 1"],
    ["drop view events"],
    ["insert into events select * from events"],
    ["set memory_limit = '100GB'"],
    ["set enable_external_access = true"],
    ["reset lock_configuration"],
    ["pragma memory_limit = '100GB'"],
    ["install httpfs"],
    ["load httpfs"],
    ["export database '/tmp/x'"],
    ["call pragma_version()"],
    ["select 1; select 2"],
    ["select 1; drop view events"],
    ["explain analyze select 1"],
    [""],
    ["-- nothing"],
    ["selec"],
  ])("cannot run %s", async (statement) => {
    expect(await put(statement)).toMatchObject({ kind: "refused", reason: "statement" });
  });

  test("is stopped after the time that is allowed", async () => {
    const endless = "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = -1";
    expect(await put(endless, { msMax: 300 })).toMatchObject({ kind: "refused", reason: "time" });
  });

  test("gets no more memory than is allowed", async () => {
    const before = process.memoryUsage.rss();
    const large = "select list(range) from range(200000000)";
    expect(await put(large, { memoryBytes: 64 * MIB })).toMatchObject({ kind: "refused", reason: "memory" });
    expect(process.memoryUsage.rss() - before).toBeLessThan(400e6);
  });

  test("gets no answer that is too large to hold", async () => {
    const wide = "select repeat('x', 40000) || range as x from range(10001)";
    expect(await put(wide, { rowsMax: 10_000 })).toMatchObject({ kind: "refused", reason: "size" });
  });
});
