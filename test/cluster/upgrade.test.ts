import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { audit, FLAWLESS, Load } from "../../sim/chaos/nodes/load.ts";
import { createDatabase } from "../db/temp-database.ts";
import { Nats } from "../journal/jetstream/nats.ts";
import { environment, makeDataDir } from "../process/launch.ts";
import { Cluster } from "./cluster.ts";
import { PreviousRelease } from "./previous-release.ts";

const release = new PreviousRelease();
let nats: Nats;
let cluster: Cluster;
beforeAll(async () => {
  nats = await Nats.start(1);
  cluster = new Cluster(await createDatabase(), nats);
  cluster.script = release.script;
  await cluster.add("http,apply", "http", "apply,refresh,postback");
});
afterAll(async () => {
  await cluster?.stop();
  await nats?.stop();
  release.remove();
});

/** Made by the release before: its tables may lack columns that an app has now. */
function createApp(): { appId: number; accessToken: string } {
  const env = environment({ ...cluster.settings(), DATA_DIR: makeDataDir() });
  const args = [release.cli, "app", "create", "--name", "Test", "--json"];
  const { app_id, access_token } = JSON.parse(execFileSync("node", args, { env, encoding: "utf8" }));
  return { appId: app_id, accessToken: access_token };
}

test("nodes of the release before are replaced one by one under load, and nothing is lost or doubled", async () => {
  const app = createApp();
  const load = new Load(app);
  const more = () => load.reach(load.acknowledged.size + 100);
  try {
    for (const node of cluster.nodes) {
      load.begin(...cluster.urls);
      await more();
      await load.pause();
      load.begin(...cluster.urlsWithout(node));
      expect(await node.server.stop()).toBe(0);
      await node.startAgain();
      await load.pause();
    }
    load.begin(...cluster.urls);
    await more();
    await load.finish(...cluster.urls);
    await cluster.settle();
    expect(await audit(cluster.pool, app, load)).toEqual(FLAWLESS);
  } finally {
    await load.pause();
  }
});
