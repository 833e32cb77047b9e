import { expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { ask, BASE, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const DEBUG = { headers: { "turbo-debug-mode": "1" } };

const bodyWith = (...events: unknown[]) => ({ client_id: "a", event_list: events });

/** Reads the stream until `count` requests were seen, or the one with the event `last`. */
async function watch(app: App, { count = Number.POSITIVE_INFINITY, last = "" }): Promise<Row[]> {
  const response = await fetch(`${server.url}${BASE}/event/stream?app_id=${app.appId}`, {
    headers: { authorization: `Bearer ${app.appKey}` },
  });
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  const seen: Row[] = [];
  let text = "";
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const messages = text.split("\n\n");
    text = messages.pop()!;
    for (const message of messages) if (message.startsWith("data: ")) seen.push(JSON.parse(message.slice(6)));
    if (seen.length >= count || seen.at(-1)?.events?.[0]?.event === last) break;
  }
  return seen;
}

test("debug mode shows the events live, bad ones with their reason, and stores them as usual", async () => {
  const app = await server.appWith(["a"]);
  const watching = watch(app, { count: 2 });
  await server.post("event/collect/", app, bodyWith(track("one", { n: 1 }), track("bad name")), DEBUG);
  await server.post("eventv2/collect/", app, { ...bodyWith(track("two")), type: "track" }, DEBUG);
  const [first, second] = await watching;
  expect(first).toMatchObject({
    clientId: "a",
    events: [{ event: "one", properties: { n: 1 } }, { event: "bad name" }],
    errors: [{ index: 1, reason: "bad_name" }],
  });
  expect(second).toMatchObject({ clientId: "a", events: [{ event: "two" }], errors: [] });
  expect(await tables.eventNames(app)).toEqual(["one", "two"]);
});

test("a new viewer sees the latest calls", async () => {
  const app = await server.appWith(["a"]);
  await server.post("event/collect/", app, bodyWith(track("earlier")), DEBUG);
  expect(await watch(app, { count: 1 })).toMatchObject([{ events: [{ event: "earlier" }] }]);
});

test("a new viewer sees only the newest of many calls, so that no copy fills the memory", async () => {
  const app = await server.appWith(["a"]);
  const noise = Array.from({ length: 50 }, () => "x".repeat(2_000));
  for (let number = 0; number < 15; number += 1) {
    await server.post("event/collect/", app, bodyWith(track(`large_${number}`, { noise })), DEBUG);
  }
  const seen = await watch(app, { last: "large_14" });
  const most = Math.floor(LIMITS.liveStreamBytes / 100_000);
  expect([most - 1, most]).toContain(seen.length);
});

test("only the app's own debug traffic is shown", async () => {
  const [app, other] = [await server.appWith(["a"]), await server.appWith(["a"])];
  await server.post("event/collect/", other, bodyWith(track("foreign")), DEBUG);
  await server.post("event/collect/", app, bodyWith(track("ordinary")));
  await server.post("event/collect/", app, bodyWith(track("off")), { headers: { "turbo-debug-mode": "0" } });
  await server.post("event/collect/", app, { client_id: "stranger", event_list: [track("refused")] }, DEBUG);
  await server.post("event/collect/", app, bodyWith(track("shown")), DEBUG);
  // Calls are shown in the order of their answers: what is missing before the last one never comes.
  const seen = await watch(app, { last: "shown" });
  expect(seen.map(({ events }) => events[0].event)).toEqual(["shown"]);
  expect((await tables.eventNames(app)).sort()).toEqual(["off", "ordinary", "shown"]);
});

test("nothing is lost in debug mode, whatever the amount", async () => {
  const app = await server.appWith(["a"]);
  const watching = watch(app, { count: 60 });
  const events = (index: number) => Array.from({ length: 20 }, (_, n) => track("many", { index, n }));
  const sent = Array.from({ length: 60 }, (_, index) =>
    server.post("event/collect/", app, bodyWith(...events(index)), DEBUG),
  );
  for (const answer of await Promise.all(sent)) expect(answer).toMatchObject({ code: 0, extra: {} });
  expect(await watching).toHaveLength(60);
  expect(await tables.ledger(app)).toEqual({ received: 1200, stored: 1200 });
});

test("a very deeply nested debug event affects neither the answer nor the stream", async () => {
  const app = await server.appWith(["a"]);
  const watching = watch(app, { last: "next" });
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const event = `{"type":"track","event":"deep","time":${Date.now()},"properties":{"deep":${deep}}}`;
  const answer = await server.post("event/collect/", app, `{"client_id":"a","event_list":[${event}]}`, DEBUG);
  expect(answer).toMatchObject({ status: 200, code: 0 });
  expect(await server.post("event/collect/", app, bodyWith(track("next")), DEBUG)).toMatchObject({ code: 0 });
  expect((await watching).at(-1)).toMatchObject({ events: [{ event: "next" }] });
});

test("the stream requires the app's own key", async () => {
  const [app, other] = [await server.createApp(), await server.createApp()];
  const open = (query: Record<string, string>, key: string) =>
    ask(server, "GET", `${BASE}/event/stream`, { query, headers: { authorization: `Bearer ${key}` } });
  const appId = String(app.appId);
  for (const key of ["", "x", other.appKey, app.accessToken, `${app.appKey}0`]) {
    expect(await open({ app_id: appId }, key)).toMatchObject({ status: 200, code: 2002, data: {} });
  }
  expect(await open({ app_id: "1" }, app.appKey)).toMatchObject({ status: 200, code: 2002 });
  expect(await open({ app_id: "x" }, app.appKey)).toMatchObject({ status: 200, code: 1004 });
  expect(await open({}, app.appKey)).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("app_id") });
});
