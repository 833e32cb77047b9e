import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { audit, FLAWLESS, Load } from "../../sim/chaos/nodes/load.ts";
import { Nats } from "../journal/jetstream/nats.ts";
import { attemptStart } from "../process/launch.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

const ROUNDS = 6;

let nats: Nats;
beforeAll(async () => {
  nats = await Nats.start(1);
});
afterAll(() => nats.stop());

const urlOf = (name: string) => `nats://${nats.servers.join(",")}/${name}?replicas=1&partitions=4&mib=64`;

test("with the log in JetStream, kill -9 of the server or of the log loses nothing, repeats nothing, and every sum adds up", async () => {
  const dataDir = prepareDataDir();
  const start = () => TouchpointProcess.start({ dataDir, env: { LOG_URL: urlOf("killed") } });
  let server = await start();
  const apps = [await server.createApp(), await server.createApp(), await server.createApp()];
  const loads = apps.map((app) => new Load(app));
  const pauseAll = () => Promise.all(loads.map((load) => load.pause()));
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const load of loads) load.begin(server.url);
      await Promise.all(loads.map((load) => load.reach(load.acknowledged.size + 50 + Math.random() * 250)));
      await sleep(Math.random() * 10);
      if (round % 2 === 0) {
        await nats.kill(0);
        nats.run(0);
        await Promise.all(loads.map((load) => load.reach(load.acknowledged.size + 50)));
        await pauseAll();
      } else {
        await server.kill();
        await pauseAll();
        server = await start();
      }
    }
    for (const load of loads) await load.finish(server.url);
    await server.settle();
    const pool = server.database();
    for (const [index, load] of loads.entries()) expect(await audit(pool, apps[index]!, load)).toEqual(FLAWLESS);
    const { rows } = await pool.query("select count(*)::int as count from journal_cursor where position > 0");
    await pool.end();
    expect(rows[0].count).toBeGreaterThan(1);
    expect(loads.reduce((sum, { counts }) => sum + counts.refused, 0)).toBeGreaterThan(0);
    expect((await server.get("/readyz")).data.log).toMatch(/^Acknowledged entries are held by one nats-server/);
  } finally {
    await pauseAll();
    await server.kill();
    await cleanUp(dataDir);
  }
});

test("entries that wait in files are not left behind by a change to a log", async () => {
  const dataDir = prepareDataDir();
  let server = await TouchpointProcess.start({ dataDir });
  try {
    await server.appWith(["u"]);
    await server.settle();
    await server.stop();
    const folder = join(dataDir, "journal");
    const segment = readdirSync(folder)
      .filter((name) => name.endsWith(".journal"))
      .sort()
      .at(-1)!;
    appendFileSync(join(folder, segment), "one more");
    const attempt = attemptStart({ DATA_DIR: dataDir, LOG_URL: urlOf("left") });
    expect(await attempt.ended()).toBe(1);
    expect(attempt.stderr).toMatch(/holds entries that are not applied yet/);
    server = await TouchpointProcess.start({ dataDir });
    await server.stop();
    server = await TouchpointProcess.start({ dataDir, env: { LOG_URL: urlOf("left") } });
    const again = await server.appWith(["v"]);
    expect(await server.lookUp(again, "v")).toHaveLength(1);
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});
