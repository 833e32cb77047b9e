import { beforeAll, describe, expect, test } from "vitest";
import { sharedServer } from "../../support/shared-server.ts";
import { profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

test("the same body sent again and again is counted once, now and later", async () => {
  const app = await server.appWith(["a"]);
  const time = Date.now();
  const events = [track("one", { n: 1 }, time), track("two", { n: 2 }, time)];
  for (let round = 0; round < 3; round += 1) expect(await server.collect(app, "a", events)).toMatchObject({ code: 0 });
  await server.settle();
  await Promise.all([1, 2].map(() => server.collect(app, "a", events)));
  expect(await tables.eventNames(app)).toEqual(["one", "two"]);
  expect(await tables.ledger(app)).toEqual({ received: 10, stored: 2, duplicate: 8 });
});

test("a repeat is not an error", async () => {
  const app = await server.appWith(["a"]);
  const events = [track("one")];
  await server.collect(app, "a", events);
  expect(await server.collect(app, "a", events)).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
});

test("an event that is twice in one list is stored once", async () => {
  const app = await server.appWith(["a"]);
  const event = track("twin", { n: 1 });
  await server.collect(app, "a", [event, track("other", {}, event.time), event]);
  expect(await tables.eventNames(app)).toEqual(["other", "twin"]);
  expect(await tables.ledger(app)).toEqual({ received: 3, stored: 2, duplicate: 1 });
});

test("the order of keys makes no difference, at any depth", async () => {
  const app = await server.appWith(["a"]);
  const time = Date.now();
  const texts = [
    `{"type":"track","event":"e","time":${time},"properties":{"a":1,"b":{"x":["p","q"],"y":{"k":1,"l":2}}}}`,
    `{"properties":{"b":{"y":{"l":2,"k":1.0},"x":["p","q"]},"a":1},"time":${time},"event":"e","type":"track"}`,
  ];
  for (const text of texts) await server.post("event/collect/", app, `{"client_id":"a","event_list":[${text}]}`);
  expect(await tables.ledger(app)).toEqual({ received: 2, stored: 1, duplicate: 1 });
});

describe("an event is a different event with", () => {
  const base = { type: "track", event: "e", properties: { a: 1, list: ["x", "y"] } };
  const time = Date.now();
  const CHANGES: [string, Row][] = [
    ["another time", { time: time - 1 }],
    ["another name", { event: "f" }],
    ["another value", { properties: { a: 2, list: ["x", "y"] } }],
    ["a value of another type", { properties: { a: "1", list: ["x", "y"] } }],
    ["one property more", { properties: { a: 1, list: ["x", "y"], b: null } }],
    ["a list in another order", { properties: { a: 1, list: ["y", "x"] } }],
  ];
  /** The client of each change is named after it. */
  let stored: Row[];
  beforeAll(async () => {
    const app = await server.createApp();
    const send = async ([client, change]: [string, Row]) => {
      await server.register(app, client);
      for (const event of [
        { ...base, time },
        { ...base, time, ...change },
      ])
        await server.collect(app, client, [event]);
    };
    await Promise.all(CHANGES.map(send));
    stored = await tables.events(app);
    expect(await tables.ledger(app)).toEqual({ received: 2 * CHANGES.length, stored: 2 * CHANGES.length });
  });

  test.each(CHANGES)("%s", (client) => {
    expect(stored.filter((row) => row.client_id === client)).toHaveLength(2);
  });
});

test("the same event of another client or app is a different event", async () => {
  const [one, other] = [await server.appWith(["a", "b"]), await server.appWith(["a"])];
  const event = track("e", { n: 1 });
  await server.collect(one, "a", [event]);
  await server.collect(one, "b", [event]);
  await server.collect(other, "a", [event]);
  expect(await tables.ledger(one)).toEqual({ received: 2, stored: 2 });
  expect(await tables.ledger(other)).toEqual({ received: 1, stored: 1 });
});

test("a repeat from another address, with another user agent or by the older path is the same event", async () => {
  const app = await server.appWith(["a"]);
  const event = track("e", { n: 1 });
  const body = { client_id: "a", event_list: [event] };
  await server.post("event/collect/", app, body);
  await server.post("event/collect/", app, { ...body, client_ip: "8.8.8.8", $flush_time: 1 });
  await server.post("event/collect/", app, body, { headers: { "user-agent": "Other/2" } });
  const { type, ...rest } = event;
  await server.post("eventv2/collect/", app, { client_id: "a", type, event_list: [rest] });
  expect(await tables.ledger(app)).toEqual({ received: 4, stored: 1, duplicate: 3 });
});

test("a repeat of an old event is recognised even after newer ones", async () => {
  const app = await server.appWith(["a"]);
  const old = track("old", {}, Date.now() - 3 * 86_400_000);
  await server.collect(app, "a", [old]);
  await server.settle();
  await server.collect(app, "a", [track("new")]);
  await server.settle();
  await server.collect(app, "a", [old, track("newer")]);
  expect(await tables.ledger(app)).toEqual({ received: 4, stored: 3, duplicate: 1 });
});

test("an event with a property left out or cut is recognised when it is repeated", async () => {
  const app = await server.appWith(["a"]);
  const event = track("e", { "bad name": 1, long: "x".repeat(3000) });
  await server.collect(app, "a", [event]);
  await server.collect(app, "a", [event]);
  expect(await tables.ledger(app)).toEqual({ received: 2, stored: 1, duplicate: 1 });
});

test("a repeated profile operation takes effect once", async () => {
  const app = await server.appWith(["a"]);
  const increment = profile("profile_increment", { coins: 10 });
  for (let round = 0; round < 4; round += 1) await server.collect(app, "a", [increment]);
  expect((await tables.user(app, "a"))!.properties).toEqual({ coins: 10 });
});
