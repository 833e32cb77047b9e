import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { loadStoredProperties } from "../../src/db/lake-file.ts";
import { type AskAnswer, ask } from "../../src/lake/ask.ts";
import { viewsFor } from "../../src/lake/lake-views.ts";
import { verifyLake } from "../../src/lake/verify.ts";
import { MIB } from "../../src/limits.ts";
import { DAY_MS, HOUR_MS, NOW_MS, track } from "../db/apply-stage.ts";
import { LakeStage, OLD_MS, takeInstance } from "./lake-stage.ts";

let stage: LakeStage;
beforeAll(async () => {
  stage = await LakeStage.open();
});
beforeEach(async () => {
  stage.hotDays = 0;
  await stage.begin();
});
afterAll(() => stage.close());

/** A property with a column has few values for many users. */
const CLIENTS = Array.from({ length: 40 }, (_, index) => `client-${index}`);

async function register(): Promise<void> {
  for (const client of CLIENTS) await stage.apply.register(client);
}

/** Sends events with these properties and has them written as a part. */
async function part(all: readonly object[], at = NOW_MS): Promise<void> {
  for (const [index, properties] of all.entries())
    await stage.apply.collect(CLIENTS[index % CLIENTS.length]!, [track("e", properties, at - index)], { at });
  await stage.apply.applyAll();
  await stage.lake.catchUp();
}

const events = async () => (await stage.files()).filter(({ kind }) => kind === "events");
const repeated = (count: number, properties: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => properties(index));

async function put(statement: string): Promise<AskAnswer> {
  const files = (await stage.files()).map((file) => ({ ...file, path: stage.folder.pathOf(file) }));
  return ask(
    {
      ...viewsFor(files, { zone: "Asia/Shanghai", statement }),
      files: files.map(({ path }) => path),
      rowsMax: 1_000,
      msMax: 60_000,
      root: stage.folder.root,
      diskBytes: 1_000 * MIB,
    },
    { takeInstance },
  );
}

const rowsOf = (answer: AskAnswer) => (answer.kind === "rows" ? answer.rows : answer);

test("a frequent text is a column of the file, whatever else a few events have in its place", async () => {
  await register();
  const odd = [{ server: 7 }, { server: null }, { server: ["s1", 2] }, { server: "" }, { server: true }, {}];
  await part([...repeated(40, (n) => ({ server: `s${n % 4}`, n })), ...odd]);
  expect((await events()).map(({ properties }) => properties)).toEqual([["server"]]);
  // An independent reader compares each with the JSON.
  const { lake, tables } = await stage.both();
  expect(lake).toEqual(tables);
});

test("a statement finds a property by its column, in files that have it and in others", async () => {
  await register();
  await part(repeated(40, (n) => ({ server: `s${n % 4}`, Mode: `m${n % 2}`, n })));
  await part([{ server: "s9", mode: 1.5 }, { n: 5 }], NOW_MS + HOUR_MS);
  expect((await events()).map(({ properties }) => properties)).toEqual([["Mode", "server"], []]);
  const counted = `select "event$server", count(*) from events group by 1 order by 1 nulls last`;
  expect(rowsOf(await put(counted))).toEqual([
    ...["s0", "s1", "s2", "s3"].map((name) => [name, "10"]),
    ["s9", "1"],
    [null, "1"],
  ]);
  // The file has a column for Mode, which is another property.
  expect(rowsOf(await put(`select e.event$mode, count(*) from events e group by 1 order by 1 nulls last`))).toEqual([
    ["1.5", "1"],
    [null, "41"],
  ]);
  expect(rowsOf(await put(`select "event$Mode", "event$n" from events where "event$server" = 's3' limit 1`))).toEqual([
    ["m1", expect.any(String)],
  ]);
  expect(rowsOf(await put("select count(*) from orders"))).toEqual([["0"]]);
});

test("properties that differ only in case are told apart, in columns and in the JSON", async () => {
  await register();
  await part(repeated(40, (n) => ({ Mode: n % 2 === 0 ? "solo" : "duo", ...(n < 10 && { mode: "m" }) })));
  expect((await events()).map(({ properties }) => properties)).toEqual([["Mode"]]);
  const both = `select "event$Mode", e."event$mode", count(*) from events e where e.event$Mode <> 'event$mode' group by all order by all`;
  expect(rowsOf(await put(both))).toEqual([
    ["duo", "m", "5"],
    ["duo", null, "15"],
    ["solo", "m", "5"],
    ["solo", null, "15"],
  ]);
});

test("without any file, a property is empty", async () => {
  expect(rowsOf(await put(`select "event$server" from events`))).toEqual([]);
});

test("a merged file keeps the columns of its parts", async () => {
  await register();
  for (let n = 0; n < 8; n += 1)
    await part(
      repeated(8, () => ({ server: `s${n}`, n })),
      NOW_MS + n * 1_000,
    );
  await stage.lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
  expect((await events()).map(({ rows, properties }) => [rows, properties])).toEqual([[64, ["server"]]]);
  const { lake, tables } = await stage.both();
  expect(lake).toEqual(tables);
});

test("a cold day that is written again keeps its columns, and fills them for what came later", async () => {
  stage.hotDays = 3;
  await stage.begin();
  const { lake } = stage;
  await register();
  await part(
    repeated(16, (n) => ({ server: `s${n % 2}`, n })),
    OLD_MS,
  );
  await lake.catchUp();
  expect(await lake.freeze()).toBe(true);
  await part([{ server: "late" }], OLD_MS + HOUR_MS);
  stage.nowMs += DAY_MS;
  await lake.catchUp();
  expect((await events()).map(({ rows, properties }) => [rows, properties])).toEqual([[17, ["server"]]]);
  expect((await stage.rowsOf("events")).filter(({ properties }) => `${properties}`.includes("late"))).toHaveLength(1);
});

test("the properties that nearly all rows have as columns are told", async () => {
  await register();
  const { pool, app } = stage.apply;
  const range = { appId: app.appId, fromDay: "2024-06-15", toDay: "2024-06-15" };
  const stored = () => loadStoredProperties(pool, range);
  expect([...(await stored())]).toEqual([]);
  await part(repeated(40, (n) => ({ server: `s${n % 4}`, mode: `m${n % 2}` })));
  await part(
    repeated(10, (n) => ({ mode: `m${n % 2}` })),
    NOW_MS + HOUR_MS,
  );
  expect([...(await stored())]).toEqual(["mode"]);
  expect([...(await loadStoredProperties(pool, { ...range, toDay: "2024-06-14", fromDay: "2024-06-14" }))]).toEqual([]);
});

test("verify names a day in whose file a column differs from the property", async () => {
  const { apply, folder, engine } = stage;
  await register();
  await part(repeated(8, (n) => ({ server: "s", mode: `m${n % 2}` })));
  const outcomes = async () => {
    const { days } = await verifyLake({ pool: apply.pool, folder, engine }, apply.app.appId);
    return days.filter(({ kind }) => kind === "events").map(({ outcome }) => outcome);
  };
  expect(await outcomes()).toEqual(["equal"]);
  const [file] = await events();
  const path = folder.pathOf(file!);
  await engine.row(`copy (select * replace ('x' as property_mode) from read_parquet('${path}', hive_partitioning = false))
    to '${path}' (format parquet)`);
  expect(await outcomes()).toEqual(["different"]);
});

test("rows of a file with columns lie in the order of their table", async () => {
  await register();
  await part(repeated(40, (n) => ({ mode: `m${n % 2}` })));
  const [file] = await events();
  expect(file!.properties).toEqual(["mode"]);
  const rows = (await stage.engine.rows(
    `select event, client_id, epoch_ms("time") from read_parquet('${stage.folder.pathOf(file!)}', hive_partitioning = false)`,
  )) as [string, string, number][];
  const inOrder = [...rows].sort((a, b) => (a.join() < b.join() ? -1 : 1));
  expect(rows).toEqual(inOrder);
});

test("texts that a reader of CSV may take for something else stay as they are", async () => {
  await register();
  const names = [" x", "x ", " ", "\\.", "a,b", 'a"b', "null", "NULL", "\u0001"];
  for (const [index, name] of names.entries())
    await stage.apply.collect(CLIENTS[index]!, [track(name, { text: name }, NOW_MS - index)]);
  await stage.apply.applyAll();
  await stage.lake.catchUp();
  const { lake, tables } = await stage.both();
  expect(lake).toEqual(tables);
  expect(lake.events.length).toBeGreaterThan(4);
});
