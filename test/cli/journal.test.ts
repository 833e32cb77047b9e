import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { cli, cliJson, expectFailure } from "./run.ts";
import { withStandIn } from "./stand-in.ts";

const dataDir = prepareDataDir();
let server: TouchpointProcess;
let kept: App;
let lost: App;

const collect = (app: App, event: string) =>
  server.collect(app, "c", [{ type: "track", event, time: Date.now(), properties: {} }]);

/** Compressed as most SDKs send it: the journal keeps it packed. */
const collectPacked = (app: App, event: string) => {
  const properties = { noise: "x".repeat(2_000) };
  const body = { client_id: "c", event_list: [{ type: "track", event, time: Date.now(), properties }] };
  const headers = { "gravity-content-compress": "gzip" };
  return server.post("event/collect/", app, gzipSync(JSON.stringify(body)), { headers });
};

/** A journal that no process applies, so that its entries wait. */
beforeAll(async () => {
  server = await TouchpointProcess.start({ dataDir, env: { ROLES: "http" } });
  kept = await server.createApp({ name: "Kept" });
  lost = await server.createApp({ name: "Lost" });
  for (const app of [kept, lost]) await server.register(app, "c");
  for (const app of [kept, lost]) expect((await collectPacked(app, "first")).code).toBe(0);
  expect((await collect(kept, "first")).code).toBe(0);
});

afterAll(async () => {
  await server.kill();
  await cleanUp(dataDir);
});

test("journal inspect shows the segments, how far they are applied, and with --entries their content", async () => {
  const picture = await cliJson(dataDir, ["journal", "inspect"]);
  expect(picture).toMatchObject({ journal_id: expect.any(String), applied: 0, set_aside: [], entries: [] });
  expect(picture.segments).toEqual([
    {
      segment: expect.stringContaining(dataDir),
      from: 0,
      bytes: expect.any(Number),
      file_bytes: picture.segments[0].bytes,
      state: "waiting",
      written: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    },
  ]);
  const { entries } = await cliJson(dataDir, ["journal", "inspect", "--entries", "10"]);
  expect(entries.map(({ kind, app, client }: Record<string, unknown>) => [kind, app, client])).toEqual([
    ["register", kept.appId, "c"],
    ["register", lost.appId, "c"],
    ["collect", kept.appId, "c"],
    ["collect", lost.appId, "c"],
    ["collect", kept.appId, "c"],
  ]);
  for (const { body } of entries.slice(2)) expect(body).toContain(`"event":"first"`);
  expect(entries[2].bytes, "as it was sent").toBeLessThan(1_000);
  const { entries: some } = await cliJson(dataDir, [
    "journal",
    "inspect",
    "--entries",
    "2",
    "--from",
    String(entries[3].from),
  ]);
  expect(some).toEqual(entries.slice(3, 5));
  const plain = await cli(dataDir, ["journal", "inspect", "--entries", "1"]);
  expect(plain.stdout).toMatch(/^ *0 +\d+ +register +\d+ +c +/m);
});

test("settle gives up after --timeout-s when nothing applies the journal", async () => {
  const startedMs = Date.now();
  expectFailure(await cli(dataDir, ["settle", "--timeout-s", "1"]), /^Not settled after 1 s: \d+ bytes/);
  expect(Date.now() - startedMs).toBeGreaterThan(1_000);
});

test("journal replay applies entries set aside once their cause is gone, and nothing after them has waited", async () => {
  const pool = server.database();
  const { rows } = await pool.query("delete from app where app_id = $1 returning *", [lost.appId]);
  await pool.end();
  await server.kill();
  server = await TouchpointProcess.start({ dataDir });
  const settled = await cliJson(dataDir, ["settle"]);
  expect(settled).toEqual({ durable: settled.applied, applied: expect.any(Number) });
  const before = await cliJson(dataDir, ["journal", "inspect"]);
  expect(before.segments).toMatchObject([{ state: "applied" }]);
  expect(before.set_aside).toMatchObject([
    { appId: lost.appId, reason: `There is no app ${lost.appId}.`, state: "waiting" },
    { appId: lost.appId, reason: `There is no app ${lost.appId}.`, state: "waiting" },
  ]);
  expect(await stored(kept)).toBe(2);
  expect(await cliJson(dataDir, ["journal", "replay"]), "the cause is still there").toEqual({
    requested: 2,
    replayed: 0,
    still_set_aside: 2,
  });
  const again = server.database();
  await again.query("insert into app select * from jsonb_populate_record(null::app, $1)", [JSON.stringify(rows[0])]);
  await again.end();
  expect(await cliJson(dataDir, ["journal", "replay"])).toEqual({ requested: 2, replayed: 2, still_set_aside: 0 });
  expect(await stored(lost)).toBe(1);
  expect(await cliJson(dataDir, ["journal", "replay"])).toEqual({ requested: 0, replayed: 0, still_set_aside: 0 });
  expect(await stored(lost)).toBe(1);
  expect((await cliJson(dataDir, ["journal", "inspect"])).set_aside).toEqual([]);
});

test("journal replay --all is refused while the server runs, and leaves everything as it is", async () => {
  const before = await stored(kept);
  expectFailure(
    await cli(dataDir, ["journal", "replay", "--all"]),
    new RegExp(`^Stop the server first: process ${server.child.pid} `),
  );
  expect(await stored(kept)).toBe(before);
});

test("settle waits for everything acknowledged before it, and says if no server answers", async () => {
  expect((await collect(kept, "second")).code).toBe(0);
  expect(await cli(dataDir, ["settle"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Settled at \d+\.\n$/),
  });
  expect(await stored(kept)).toBe(3);
  expectFailure(
    await cli(dataDir, ["settle", "--url", "http://127.0.0.1:9"]),
    /^No server answers at http:\/\/127\.0\.0\.1:9/,
  );
});

test("settle says in one sentence that a server refuses to tell its progress, or does not answer in time", async () => {
  const settle = (address: string) => cli(dataDir, ["settle", "--timeout-s", "1", "--url", address]);
  const refused = await withStandIn((_, response) => response.end('{"code":1,"msg":"Try later."}'), settle);
  expectFailure(refused, /^The server at http:\S+ does not say how far it is: Try later\.\n$/);
  const silent = await withStandIn(() => {}, settle);
  expectFailure(silent, /^The server at http:\S+ did not answer within 1 s\.\n$/);
});

async function stored(app: App): Promise<number> {
  const pool = server.database();
  const { rows } = await pool.query("select count(*)::int as events from event where app_id = $1", [app.appId]);
  await pool.end();
  return rows[0].events;
}
