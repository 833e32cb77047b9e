import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { ExternalDatabase } from "../../sim/chaos/external-database.ts";
import { audit, FLAWLESS, Load } from "../../sim/chaos/nodes/load.ts";
import { isAlive, postmasterOf } from "../../sim/chaos/postmaster.ts";
import { makeDataDir } from "../process/launch.ts";
import { ConsoleUser } from "../support/admin-caller.ts";
import { eventually } from "../support/patience.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, type Touchpoint, TouchpointProcess } from "../support/touchpoint.ts";
import { createExternalApp } from "./external-app.ts";

test("collection goes on while the embedded database is killed, and everything is stored once", async () => {
  const dataDir = prepareDataDir();
  const server = await TouchpointProcess.start({ dataDir });
  const app = await server.createApp();
  const load = new Load(app);
  try {
    load.begin(server.url);
    await load.reach(200);
    // Kills the whole database, then one of its backends, which makes it discard what is not on its disk.
    for (const victim of ["postmaster", "backend"]) {
      const postmaster = postmasterOf(dataDir)!;
      process.kill(victim === "postmaster" ? postmaster : await backendOf(server), "SIGKILL");
      await load.reach(load.acknowledged.size + 200);
      await load.pause();
      await untilDatabaseIsBack(server);
      if (victim === "postmaster") expect(postmasterOf(dataDir), "a new database runs").not.toBe(postmaster);
      load.begin(server.url);
      await load.reach(load.acknowledged.size + 50 + Math.random() * 200);
    }
    await load.finish(server.url);
    await server.settle();
    const pool = server.database();
    expect(await audit(pool, app, load)).toEqual(FLAWLESS);
    await pool.end();
    expect(load.counts).toMatchObject({ lost: 0, refused: 0 });
  } finally {
    await load.pause();
    await server.kill();
    await cleanUp(dataDir);
  }
});

test("commits lost in a crash of the database are applied again even if nothing new arrives", async () => {
  const dataDir = prepareDataDir();
  const server = await TouchpointProcess.start({ dataDir });
  try {
    const app = await server.createApp();
    const sent = new Set<string>();
    expect((await server.register(app, "c")).code).toBe(0);
    for (let round = 0; round < 2; round += 1) {
      const backend = await backendOf(server);
      const marker = `quiet-${round}`;
      sent.add(marker);
      const event = { type: "track", event: "quiet", time: Date.now(), properties: { marker } };
      expect((await server.collect(app, "c", [event])).code).toBe(0);
      await server.settle();
      const other = await connectionTo(server);
      process.kill(backend, "SIGKILL");
      // All connections end with it, and only then is something lost.
      await other.ended;
      await untilStored(server, marker);
    }
    await server.settle();
    const pool = server.database();
    const told = { sent, acknowledged: sent, registered: ["c"], complaints: [] };
    expect(await audit(pool, app, told)).toEqual(FLAWLESS);
    await pool.end();
  } finally {
    await server.kill();
    await cleanUp(dataDir);
  }
});

test("an external database may go and come back under load: nothing is refused, everything is stored once", async () => {
  const dataDir = makeDataDir();
  const database = await ExternalDatabase.create();
  const options = { dataDir, env: { DATABASE_URL: database.url } };
  let server = await TouchpointProcess.start(options);
  const app = await createExternalApp(database, dataDir);
  const load = new Load(app);
  const admin = await new ConsoleUser(server, "admin").signIn(database.pool);
  expect((await admin.get("health")).data).toMatchObject({ database: { kind: "external" } });
  try {
    load.begin(server.url);
    await load.reach(200);
    for (let outage = 0; outage < 2; outage += 1) {
      await database.stop();
      const before = load.acknowledged.size;
      await load.reach(before + 200);
      expect((await server.get("/readyz")).data).toEqual({ status: "ready", database: "away" });
      expect((await admin.get("health")).data).toMatchObject({
        state: "troubled",
        problems: expect.arrayContaining(["database_away"]),
        database: null,
        lanes: [],
        intake: { obstacle: "" },
      });
      expect(await admin.post("set-aside/replay", {})).toMatchObject({ status: 503, code: 5003 });
      await database.start();
      await load.reach(before + 400);
    }
    // Once more with the server itself: it is killed while the database is away, and waits for it at its start.
    await database.stop();
    await server.kill();
    await load.pause();
    const starting = TouchpointProcess.start(options);
    await sleep(1_000);
    await database.start();
    server = await starting;
    await load.finish(server.url);
    await server.settle();
    expect(await audit(database.pool, app, load)).toEqual(FLAWLESS);
    expect(load.counts.refused).toBe(0);
  } finally {
    await load.pause();
    await server.kill();
    await database.remove();
    await cleanUp(dataDir);
  }
});

/** The process id of an unused connection, which stays open until the database ends it. */
async function backendOf(server: Touchpoint): Promise<number> {
  const pool = server.database();
  const { rows } = await pool.query("select pg_backend_pid() as pid");
  return rows[0].pid;
}

async function untilDatabaseIsBack(server: Touchpoint): Promise<void> {
  await eventually(async () => {
    const postmaster = postmasterOf(server.dataDir);
    expect(postmaster !== undefined && isAlive(postmaster), "the database was started again").toBe(true);
    expect((await server.get("/readyz")).data.database).toBe("there");
  });
}

/** A connection that is watched until the database ends it. */
async function connectionTo(server: Touchpoint): Promise<{ ended: Promise<void> }> {
  const client = await server.database().connect();
  return { ended: new Promise((resolve) => client.once("error", () => resolve())) };
}

/** Nothing is sent meanwhile, so only the server itself can bring it back. */
async function untilStored(server: Touchpoint, marker: string): Promise<void> {
  const pool = server.database();
  await eventually(async () => {
    const { rows } = await pool.query("select 1 from event where properties_text::json->>'marker' = $1", [marker]);
    expect(rows, `the acknowledged event ${marker}`).toHaveLength(1);
  });
  await pool.end();
}
