import { expect, test } from "vitest";
import { ExternalDatabase } from "../../sim/chaos/external-database.ts";
import { audit, FLAWLESS, Load } from "../../sim/chaos/nodes/load.ts";
import { makeDataDir } from "../process/launch.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { type Answer, cleanUp, type Touchpoint, TouchpointProcess } from "../support/touchpoint.ts";
import { createExternalApp } from "./external-app.ts";
import { diskLimits } from "./small-disk.ts";

const MORE_THAN_ANY_DISK = "16384GiB";

function expectOverloaded(answer: Answer): void {
  const { status, code, msg, data, extra } = answer;
  expect({ status, code, data, extra }).toEqual({ status: 503, code: 5003, data: {}, extra: { error: msg } });
  expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(msg).toMatch(/^The .*\.$/);
}

test("below the minimum free space every write is refused with 503 before anything breaks, and reads go on", async () => {
  const dataDir = prepareDataDir();
  let server = await TouchpointProcess.start({ dataDir });
  try {
    const app = await server.createApp();
    expect((await server.register(app, "c")).code).toBe(0);
    expect(await server.stop()).toBe(0);
    const env = { DISK_FREE_BYTES_MIN: MORE_THAN_ANY_DISK };
    server = await TouchpointProcess.start({ dataDir, env });
    const event = { type: "track", event: "refused", time: Date.now(), properties: {} };
    const query = { client_id: "c" };
    expectOverloaded(await server.collect(app, "c", [event]));
    expectOverloaded(await server.register(app, "new"));
    expectOverloaded(await server.post("user/device_info/", app, { data: { os_name: "ios" } }, { query }));
    expectOverloaded(
      await server.post("event/consumer_event/", app, { event_type: "START", ts: Date.now() }, { query }),
    );
    expectOverloaded(await server.post("event/handle_event/", app, { event_type: "activate" }, { query }));
    expectOverloaded(await server.post("user/reset_client_id/", app, { new_client_id: "d" }, { query }));
    expectOverloaded(await server.get("/readyz"));
    expect(await server.get("/healthz")).toMatchObject({ status: 200, code: 0 });
    expect(await server.lookUp(app, "c", "new", "d")).toMatchObject([{ client_id: "c" }]);
    expect(await server.stop()).toBe(0);
    server = await TouchpointProcess.start({ dataDir });
    expect((await server.get("/readyz")).status).toBe(200);
    expect((await server.collect(app, "c", [{ ...event, event: "taken" }])).code).toBe(0);
    await server.settle();
    const pool = server.database();
    expect((await pool.query("select event from event")).rows).toEqual([{ event: "taken" }]);
    await pool.end();
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});

test("a journal that nobody applies refuses with 503 once it is full, and its content is applied later", async () => {
  const dataDir = prepareDataDir();
  const env = { JOURNAL_BACKLOG_BYTES_MAX: "1MiB" };
  let server = await TouchpointProcess.start({ dataDir, env: { ...env, ROLES: "http" } });
  const app = await server.createApp();
  const load = new Load(app);
  try {
    const { status, data: ready } = await server.get("/readyz");
    expect([status, ready.status, ready.apply]).toEqual([200, "ready", expect.stringMatching(/^Nobody applies this/)]);
    load.begin(server.url);
    await expect.poll(() => load.counts.refused).toBeGreaterThan(20);
    await load.pause();
    expectOverloaded(await server.get("/readyz"));
    expectOverloaded(await server.register(app, "late"));
    const { data } = await server.get("/progress");
    expect(data.applied).toBe(0);
    expect(data.backlog_bytes).toBeGreaterThan(1024 * 1024);
    expect(data.backlog_bytes, "the maximum and the requests that were under way").toBeLessThan(1.1 * 1024 * 1024);
    await server.kill();
    server = await TouchpointProcess.start({ dataDir, env });
    await load.finish(server.url);
    await server.settle();
    expect((await server.get("/readyz")).status).toBe(200);
    const pool = server.database();
    expect(await audit(pool, app, load)).toEqual(FLAWLESS);
    await pool.end();
  } finally {
    await load.pause();
    await server.kill();
    await cleanUp(dataDir);
  }
});

test.each(diskLimits())(
  "a disk that is really full ($name) is answered with 503 and loses nothing acknowledged",
  async (limit) => {
    const dataDir = makeDataDir();
    const database = await ExternalDatabase.create();
    limit.prepare(dataDir);
    const settings = { DATA_DIR: dataDir, DATABASE_URL: database.url, DISK_FREE_BYTES_MIN: "0", LOG_LEVEL: "silent" };
    let server = await limit.start(settings, "with space");
    const app = await createExternalApp(database, dataDir);
    const load = new Load(app);
    try {
      load.begin(server.url);
      await load.reach(300);
      for (let round = 0; round < limit.rounds; round += 1) {
        await load.pause();
        server = await limit.fill(server, settings);
        const refusedBefore = load.counts.refused;
        load.begin(server.url);
        await expect.poll(() => load.counts.refused - refusedBefore).toBeGreaterThan(30);
        await load.pause();
        expectOverloaded(await largeCollect(server, app, load));
        server = await limit.free(server, settings);
        const before = load.acknowledged.size;
        load.begin(server.url);
        await load.reach(before + 300);
      }
      await server.attempt.end("SIGKILL");
      await load.pause();
      server = await limit.start(settings, "with space");
      await load.finish(server.url);
      await server.settle();
      expect(await audit(database.pool, app, load)).toEqual(FLAWLESS);
    } finally {
      await load.pause();
      await server.attempt.end("SIGKILL");
      await database.remove();
      limit.remove(dataDir);
      await cleanUp(dataDir);
    }
  },
);

/** More than is left on any of the small disks below. */
function largeCollect(server: Touchpoint, app: Parameters<Touchpoint["post"]>[1], load: Load): Promise<Answer> {
  const events = Array.from({ length: 500 }, () => ({
    type: "track",
    event: "large",
    time: Date.now(),
    properties: {},
  }));
  return server.post("event/collect/", app, { client_id: load.registered[0], event_list: events });
}
