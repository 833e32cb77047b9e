import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { createExternalApp } from "../crash/external-app.ts";
import { adReportOf } from "../http/report/reports.ts";
import { ConsoleUser } from "../support/admin-caller.ts";
import { eventually } from "../support/patience.ts";
import { ReplicatedDatabase } from "../support/replicated-database.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { makeDataDir } from "./launch.ts";

const dataDir = makeDataDir();
let pair: ReplicatedDatabase;
let server: TouchpointProcess | undefined;
let app: App;
let admin: ConsoleUser;

beforeAll(async () => {
  pair = await ReplicatedDatabase.create();
  await start(pair.replicaUrl);
  app = await createExternalApp(pair.database, dataDir);
});
afterAll(async () => {
  await server?.kill();
  await pair.remove();
  await cleanUp(dataDir);
});

async function start(replicaUrl: string): Promise<void> {
  await server?.stop();
  server = await TouchpointProcess.start({ dataDir, env: { DATABASE_URL: pair.url, REPORT_DATABASE_URL: replicaUrl } });
  admin = await new ConsoleUser(server, "admin").signIn(pair.database.pool);
}

async function registerAndApply(clientId: string): Promise<void> {
  expect((await server!.register(app, clientId)).code).toBe(0);
  await server!.settle();
}

/** Whether the console shows a user. */
async function shows(clientId: string): Promise<boolean> {
  const { code } = await admin.get("user", { app_id: app.appId, client_id: clientId });
  expect([0, 2000]).toContain(code);
  return code === 0;
}

async function dataAgeS(): Promise<number> {
  const { data, msg } = await admin.post("report/ad", adReportOf(app, { metrics_list: ["AppActivateStandard"] }));
  expect(msg).toBe("success");
  return data.data_age_s;
}

const health = async () => (await admin.get("health")).data;
const untilRead = () => eventually(async () => expect((await health()).replica.obstacle).toBe(""));

test("reports are read on the replica, and its lag counts into their age", async () => {
  await untilRead();
  await registerAndApply("before");
  await eventually(async () => expect(await shows("before")).toBe(true));
  expect(await pair.readersOfReplica()).toBeGreaterThan(0);
  await eventually(async () => expect(await dataAgeS()).toBeLessThan(4));

  await pair.pauseReplay();
  await registerAndApply("meanwhile");
  expect(await shows("meanwhile")).toBe(false);
  await eventually(async () => expect(await dataAgeS()).toBeGreaterThan(4));
  const { replica, problems } = await health();
  expect(replica.lag_ms).toBeGreaterThan(3_000);
  expect(problems).not.toContain("replica_away");

  await pair.resumeReplay();
  await eventually(async () => expect(await shows("meanwhile")).toBe(true));
  await eventually(async () => expect(await dataAgeS()).toBeLessThan(4));
});

test("whoever changes something sees it at once, although the replica is behind", async () => {
  await untilRead();
  await pair.pauseReplay();
  await registerAndApply("changed");
  expect(await shows("changed")).toBe(false);
  expect((await admin.post("campaigns/create", { app_id: app.appId, name: "A change" })).msg).toBe("success");
  expect(await shows("changed")).toBe(true);
  await pair.resumeReplay();
  await untilRead();
});

test("the primary serves while the replica is away, and no report fails", async () => {
  await untilRead();
  await pair.stopReplica();
  await registerAndApply("away");
  expect(await shows("away")).toBe(true);
  await eventually(async () => expect((await health()).problems).toContain("replica_away"));
  expect((await health()).replica).toMatchObject({ obstacle: expect.stringMatching(/./), lag_ms: 0 });
  const { body } = await fetch(`${server!.url}/metrics`).then(async (answer) => ({ body: await answer.text() }));
  expect(body).toMatch(/^touchpoint_replica_away 1$/m);

  await pair.startReplica();
  await untilRead();
  expect((await health()).problems).not.toContain("replica_away");
});

test("a server that is no replica of this database is not read, and the health page says why", async () => {
  await start(pair.url);
  await eventually(async () =>
    expect((await health()).replica.obstacle).toBe("The server at REPORT_DATABASE_URL is not a replica."),
  );
  expect(await shows("away")).toBe(true);

  await start(pair.replicaUrl.replace(/\/[^/]*$/, "/template1"));
  await eventually(async () =>
    expect((await health()).replica.obstacle).toBe("REPORT_DATABASE_URL leads to another database than DATABASE_URL."),
  );
  expect(await shows("away")).toBe(true);
});
