import { afterAll, beforeAll, expect, test } from "vitest";
import { audit, FLAWLESS, Load } from "../../sim/chaos/nodes/load.ts";
import { Nats } from "../journal/jetstream/nats.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { Cluster, PARTITIONS } from "./cluster.ts";

let nats: Nats;
let cluster: Cluster;
beforeAll(async () => {
  nats = await Nats.start(3);
  cluster = await Cluster.start(["http", "http", "http,refresh", "apply", "apply,postback"], nats);
});
afterAll(async () => {
  await cluster?.stop();
  await nats?.stop();
});

const appliers = () => cluster.nodes.filter(({ role }) => role.includes("apply"));
const collectors = () => cluster.nodes.filter(({ role }) => role.includes("http")).map(({ server }) => server);
const poll = { timeout: PATIENCE_MS };

test("appliers share the partitions evenly, and a new one takes its share", async () => {
  const half = PARTITIONS / 2;
  const shares = () => cluster.holders().then((holders) => [...holders.values()].sort());
  await expect.poll(shares, poll).toEqual([half, half]);
  const [third] = await cluster.add("apply");
  await expect.poll(shares, poll).toEqual([2, 3, 3]);
  await third!.server.stop();
  await expect.poll(shares, poll).toEqual([half, half]);
  cluster.nodes.splice(cluster.nodes.indexOf(third!), 1);
});

test("a client that registers at one node is known at every other at once", async () => {
  const app = await cluster.createApp();
  const servers = collectors();
  for (let number = 0; number < 15; number += 1) {
    const client = `client-${number}`;
    expect((await servers[number % 3]!.register(app, client)).code).toBe(0);
    const events = [{ type: "track", event: "begin", time: Date.now(), properties: {} }];
    expect((await servers[(number + 1) % 3]!.collect(app, client, events)).code).toBe(0);
    expect((await servers[(number + 2) % 3]!.collect(app, `nobody-${number}`, events)).code).toBe(2000);
  }
});

test("a client that is renamed at one node is unknown under the old id, and known under the new one, at every other", async () => {
  const app = await cluster.createApp();
  const [one, two, three] = collectors();
  const events = [{ type: "track", event: "begin", time: Date.now(), properties: {} }];
  expect((await one!.register(app, "before")).code).toBe(0);
  for (const server of [two!, three!]) expect((await server.collect(app, "before", events)).code).toBe(0);
  const query = { app_id: String(app.appId), client_id: "before" };
  const renamed = await one!.post("user/reset_client_id", app, { new_client_id: "after" }, { query });
  expect(renamed.code).toBe(0);
  for (const server of [two!, three!]) {
    expect((await server.collect(app, "after", events)).code).toBe(0);
    await expect.poll(async () => (await server.collect(app, "before", events)).code, poll).toBe(2000);
  }
});

test("the live stream of one node shows the calls of another", async () => {
  const app = await cluster.createApp();
  const [one, two] = collectors();
  await one!.register(app, "watched");
  const abort = new AbortController();
  const headers = { authorization: `Bearer ${app.appKey}` };
  const url = `${one!.url}/event_center/api/v1/event/stream?app_id=${app.appId}`;
  const { body } = await fetch(url, { headers, signal: abort.signal });
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  let shown = "";
  const reading = (async () => {
    for (;;) shown += (await reader.read()).value ?? "";
  })().catch(() => {});
  const events = [{ type: "track", event: "seen_elsewhere", time: Date.now(), properties: {} }];
  await expect
    .poll(async () => {
      const body = { client_id: "watched", event_list: events };
      await two!.post("event/collect/", app, body, { headers: { "turbo-debug-mode": "1" } });
      return shown;
    }, poll)
    .toContain("seen_elsewhere");
  abort.abort();
  await reading;
});

test("whichever node is killed or frozen, nothing is lost or doubled, and no client becomes unknown", async () => {
  const apps = [await cluster.createApp(), await cluster.createApp()];
  const loads = apps.map((app) => new Load(app));
  const begin = () => {
    for (const load of loads) load.begin(...cluster.urls);
  };
  const pause = () => Promise.all(loads.map((load) => load.pause()));
  const more = (events: number) => Promise.all(loads.map((load) => load.reach(load.acknowledged.size + events)));
  try {
    begin();
    await more(100);
    for (const node of [cluster.nodes[0]!, appliers()[0]!]) {
      await node.server.kill();
      await pause();
      await node.startAgain();
      begin();
      await more(100);
    }
    const { manager } = await nats.operator();
    const [stream] = await manager.streams.names().next();
    const leader = await nats.leaderOf(manager, stream!);
    await nats.kill(leader);
    await more(20);
    nats.run(leader);
    await pause();
    // The other takes over what a frozen applier holds, which then must not commit any more.
    const frozen = appliers()[1]!;
    frozen.server.child.kill("SIGSTOP");
    await expect.poll(() => cluster.holders(), poll).toEqual(new Map([[appliers()[0]!.pid, PARTITIONS]]));
    begin();
    await more(50);
    frozen.server.child.kill("SIGCONT");
    await more(100);
    for (const load of loads) await load.finish(...cluster.urls);
    await cluster.settle();
    for (const [index, load] of loads.entries())
      expect(await audit(cluster.pool, apps[index]!, load)).toEqual(FLAWLESS);
  } finally {
    await pause();
  }
});
