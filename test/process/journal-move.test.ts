import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { cli, cliProcess, cliProcessJson, expectFailure } from "../cli/run.ts";
import { Nats } from "../journal/jetstream/nats.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

const dataDir = prepareDataDir();
let nats: Nats;
let server: TouchpointProcess;

beforeAll(async () => {
  nats = await Nats.start(1);
});
afterAll(async () => {
  await server.kill();
  await cleanUp(dataDir);
  await nats.stop();
});

const urlOf = (name: string) => `nats://${nats.servers[0]}/${name}?replicas=1&partitions=2&mib=64`;

const collect = async (app: App, marker: string) => {
  const event = { type: "track", event: "e", time: Date.now(), properties: { marker } };
  expect((await server.collect(app, "c", [event])).code).toBe(0);
};

async function markers(): Promise<string[]> {
  await server.settle();
  const pool = server.database();
  const { rows } = await pool.query("select properties_text::json->>'marker' as marker from event order by 1");
  await pool.end();
  return rows.map(({ marker }) => marker);
}

/** Acknowledged by a server that does not apply. */
async function collectWaiting(app: App, marker: string, env: Record<string, string>): Promise<void> {
  await server.stop();
  server = await TouchpointProcess.start({ dataDir, env: { ...env, ROLES: "http" } });
  await collect(app, marker);
  await server.stop();
}

test("journal move leaves files for a log in JetStream and the log for files, and entries that wait are applied once", async () => {
  const LOG_URL = urlOf("moved");
  server = await TouchpointProcess.start({ dataDir });
  const app = await server.appWith(["c"]);
  await collect(app, "1 in files");
  expectFailure(await cli(dataDir, ["journal", "move", "--to", LOG_URL]), /^Stop the server first: process \d+ /);
  await collectWaiting(app, "2 waits in files", {});
  const wrong = await cliProcess(dataDir, ["journal", "move", "--to", "kafka://a"]);
  expectFailure(wrong, /^--to must be files, or what LOG_URL is going to be, which must have the form nats:/);
  expectFailure(await cliProcess(dataDir, ["journal", "move", "--to", "files"]), /^The journal is in files already\./);
  const moved = await cliProcess(dataDir, ["journal", "move", "--to", LOG_URL]);
  expect(moved.stdout).toMatch(/^The journal \S+ is applied to its end\. Set LOG_URL to it, and start the server\.\n$/);

  server = await TouchpointProcess.start({ dataDir, env: { LOG_URL } });
  await collect(app, "3 in the log");
  expect(await markers()).toEqual(["1 in files", "2 waits in files", "3 in the log"]);
  await collectWaiting(app, "4 waits in the log", { LOG_URL });
  expect(await cliProcessJson(dataDir, ["journal", "move", "--to", "files"], { LOG_URL })).toMatchObject({
    entries: 2,
  });

  server = await TouchpointProcess.start({ dataDir });
  await collect(app, "5 in files again");
  expect(await markers()).toEqual([
    "1 in files",
    "2 waits in files",
    "3 in the log",
    "4 waits in the log",
    "5 in files again",
  ]);
  await server.stop();
});

test("journal move refuses a log that another installation has filled", async () => {
  const other = prepareDataDir();
  const LOG_URL = urlOf("other");
  const stranger = await TouchpointProcess.start({ dataDir: other, env: { LOG_URL } });
  try {
    await stranger.appWith(["c"]);
    await stranger.stop();
    const refused = await cliProcess(dataDir, ["journal", "move", "--to", LOG_URL]);
    expectFailure(refused, /^The log has entries of another installation: name another one/);
  } finally {
    await stranger.kill();
    await cleanUp(other);
  }
});
