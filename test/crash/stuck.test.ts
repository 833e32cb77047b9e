import { expect, test } from "vitest";
import { createDatabase } from "../db/temp-database.ts";
import { makeDataDir } from "../process/launch.ts";
import { ConsoleUser } from "../support/admin-caller.ts";
import { databaseUrl } from "../support/shared-server.ts";
import { type Answer, cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { createExternalApp } from "./external-app.ts";

const EVENTS = 20;

test("apply without a privilege is stuck, says so, and applies everything once it is granted", async () => {
  const database = await createDatabase();
  const { pool, name } = database;
  const role = `${name}_role`;
  await pool.query(`create role ${role} login password 'secret'`);
  // We need access to what this role creates, too.
  await pool.query(`grant ${role} to current_user with inherit true`);
  await pool.query(`revoke temporary on database ${name} from public`);
  await pool.query(`grant all on schema public to ${role}`);
  const dataDir = makeDataDir();
  const env = { DATABASE_URL: databaseUrl(name, `${role}:secret`) };
  const server = await TouchpointProcess.start({ dataDir, env });
  try {
    const app = await createExternalApp(database, dataDir);
    const admin = await new ConsoleUser(server, "admin").signIn(pool);
    const clients = Array.from({ length: EVENTS }, (_, index) => `c${index}`);
    const event = { type: "track", event: "e", time: Date.now(), properties: {} };
    const codes = (calls: Promise<Answer>[]) => Promise.all(calls.map(async (call) => (await call).code));
    expect(new Set(await codes(clients.map((client) => server.register(app, client))))).toEqual(new Set([0]));
    // Only users already in the tables are changed through a temporary table.
    await server.settle();
    expect(new Set(await codes(clients.map((client) => server.collect(app, client, [event]))))).toEqual(new Set([0]));
    const sentence = /^Apply is stuck because permission denied to create temporary tables in .* \(42501\)\.$/;
    await expect.poll(async () => (await server.get("/readyz")).data.apply).toMatch(sentence);
    expect(await server.get("/readyz")).toMatchObject({ status: 200, data: { status: "ready", database: "there" } });
    expect(await stuckMetric(server)).toBe(1);
    expect((await admin.get("health")).data).toMatchObject({
      state: "troubled",
      problems: expect.arrayContaining(["apply_stuck"]),
      database: { set_aside: 0 },
      intake: { obstacle: "", apply_obstacle: expect.stringMatching(sentence) },
    });

    await pool.query(`grant temporary on database ${name} to ${role}`);
    await server.settle();
    await expect.poll(async () => (await server.get("/readyz")).data).toEqual({ status: "ready", database: "there" });
    expect(await stuckMetric(server)).toBe(0);
    const { rows } = await pool.query(
      "select (select count(*) from event) as events, (select count(*) from set_aside) as aside",
    );
    expect(rows).toEqual([{ events: EVENTS, aside: 0 }]);
    expect(await server.stop()).toBe(0);
    expect(server.output.match(/Apply is stuck because/g)).toHaveLength(1);
    expect(server.output.match(/Apply goes on/g)).toHaveLength(1);
  } finally {
    await server.kill();
    await database.drop();
    await cleanUp(dataDir);
  }
});

async function stuckMetric(server: TouchpointProcess): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^touchpoint_apply_stuck (\d)$/m.exec(text)?.[1]);
}
