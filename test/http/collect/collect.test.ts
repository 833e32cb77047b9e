import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** One app for all tests that neither count its events nor change its settings; each has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.appWith(["u1", "refused"]);
});

test("an event of a registered client is stored as it was sent", async () => {
  const time = Date.now() - 5_000;
  const answer = await server.collect(app, "u1", [track("level_up", { level: 3, boss: "dragon" }, time)]);
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", data: {}, extra: {} });
  expect(await tables.events(app, "u1")).toMatchObject([
    {
      type: "track",
      event: "level_up",
      at_ms: time,
      properties: { level: 3, boss: "dragon", $ip: "127.0.0.1" },
    },
  ]);
});

describe("client_id", () => {
  const list = JSON.stringify([track("e")]);
  const raw = (clientId: string) => `{"client_id":${clientId},"event_list":${list}}`;

  const registration = (clientId: string) => `{"client_id":${clientId},"name":"n","channel":"c","version":1}`;

  const GOOD: readonly [what: string, sent: string, clientId: string][] = [
    ["a text", '"u2"', "u2"],
    ["a text of one character", '"x"', "x"],
    ["a text of 128 characters", JSON.stringify("x".repeat(128)), "x".repeat(128)],
    ["a text of 128 characters beyond the basic plane", JSON.stringify("🎮".repeat(128)), "🎮".repeat(128)],
    ["a text in any script", '"玩家 7/ü%&=?#+"', "玩家 7/ü%&=?#+"],
    ["a number", "123", "123"],
    ["zero", "0", "0"],
    ["the largest number that a double keeps", "9007199254740991", "9007199254740991"],
    ["a number longer than a double keeps", "12345678901234567890", "12345678901234567890"],
    ["a number of 128 digits", "9".repeat(128), "9".repeat(128)],
    ["a text that looks like a number", '"00123"', "00123"],
  ];
  let events: Row[];
  let users: Map<string, Row>;
  beforeAll(async () => {
    const send = async ([, sent]: (typeof GOOD)[number]) => {
      expect(await server.post("user/register/", app, registration(sent))).toMatchObject({ code: 0 });
      expect(await server.post("event/collect/", app, raw(sent))).toMatchObject({ code: 0 });
    };
    await Promise.all(GOOD.map(send));
    [events, users] = [await tables.events(app), await tables.users(app)];
  });

  test.each(GOOD)("may be %s", (_what, _sent, clientId) => {
    expect(events.filter((row) => row.client_id === clientId)).toMatchObject([{ event: "e" }]);
    expect(users.get(clientId)).toMatchObject({ is_registered: true });
  });

  test("a number and the text of its digits are the same client", async () => {
    const own = await server.appWith(["42"]);
    expect(await server.post("event/collect/", own, raw("42"))).toMatchObject({ code: 0 });
    expect(await server.post("event/collect/", own, raw('"42"'))).toMatchObject({ code: 0 });
    expect(await tables.ledger(own)).toEqual({ received: 2, stored: 1, duplicate: 1 });
  });

  test.each([
    ["empty", '""'],
    ["null", "null"],
    ["longer than 128 characters", JSON.stringify("x".repeat(129))],
    ["a number of more than 128 digits", "9".repeat(129)],
    ["a truth value", "true"],
    ["a list", '["a"]'],
    ["an object", "{}"],
    ["text with a NUL", '"a\\u0000b"'],
    ["text with half a character", '"a\\ud83d"'],
  ])("is refused with 1004 when it is %s", async (_what, sent) => {
    const answer = await server.post("event/collect/", app, raw(sent));
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("client_id") });
    expect(await server.post("user/register/", app, registration(sent))).toMatchObject({ status: 200, code: 1004 });
  });

  test("is refused with 1004 when it is missing", async () => {
    const answer = await server.post("event/collect/", app, { event_list: [track("e")] });
    expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining("client_id") });
  });
});

describe("event_list", () => {
  test.each([1, 2, 1000])("may hold %i events", async (count) => {
    const own = await server.appWith(["a"]);
    const time = Date.now();
    const events = Array.from({ length: count }, (_, index) => track("e", { index }, time - index));
    expect(await server.collect(own, "a", events)).toMatchObject({ code: 0, extra: {} });
    expect(await tables.ledger(own)).toEqual({ received: count, stored: count });
  });

  test.each([
    ["missing", undefined],
    ["null", null],
    ["an object", {}],
    ["a text", "[]"],
    ["empty", []],
    ["longer than 1,000", Array.from({ length: 1001 }, () => track("e"))],
  ])("is refused with 1004 when it is %s", async (_what, events) => {
    const answer = await server.post("event/collect/", app, { client_id: "refused", event_list: events });
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("event_list") });
    expect(await tables.events(app, "refused")).toEqual([]);
  });
});

describe("$ip and $ua", () => {
  const collect = (clientId: string, more: object, properties: object = {}, headers: Record<string, string> = {}) => {
    const body = { client_id: clientId, event_list: [track("e", properties)], ...more };
    return server.post("event/collect/", app, body, { headers: { "user-agent": "Game/1.0", ...headers } });
  };

  const RULES: readonly [rule: string, more: object, expected: Row][] = [
    ["are the caller's own by default", {}, { $ip: "127.0.0.1", $ua: "Game/1.0" }],
    [
      "are replaced by client_ip and client_ua",
      { client_ip: "8.8.8.8", client_ua: "Real" },
      { $ip: "8.8.8.8", $ua: "Real" },
    ],
    ["are replaced one by one", { client_ip: "2001:db8::1" }, { $ip: "2001:db8::1", $ua: "Game/1.0" }],
    [
      "stay the caller's when the replacement is empty",
      { client_ip: "", client_ua: "" },
      { $ip: "127.0.0.1", $ua: "Game/1.0" },
    ],
    [
      "stay the caller's when the replacement is null",
      { client_ip: null, client_ua: null },
      { $ip: "127.0.0.1", $ua: "Game/1.0" },
    ],
  ];
  const FORWARDED = { "x-forwarded-for": "6.6.6.6", "x-real-ip": "6.6.6.6", forwarded: "for=6.6.6.6" };
  let events: Row[];
  beforeAll(async () => {
    const clients = [...RULES.map(([rule]) => rule), "with its own", "forwarded"];
    await Promise.all(clients.map((client) => server.register(app, client)));
    const real = { client_ip: "8.8.8.8", client_ua: "Real" };
    const answers = await Promise.all([
      ...RULES.map(([rule, more]) => collect(rule, more)),
      collect("with its own", real, { $ip: "1.1.1.1", $ua: "Fake", score: 1 }),
      collect("forwarded", {}, {}, FORWARDED),
    ]);
    for (const answer of answers) expect(answer).toMatchObject({ code: 0, extra: {} });
    events = await tables.events(app);
  });
  const propertiesOf = (clientId: string) => events.find((row) => row.client_id === clientId)!.properties;

  test.each(RULES)("%s", (rule, _more, expected) => {
    expect(propertiesOf(rule)).toEqual(expected);
  });

  test("of an event are replaced by client_ip and client_ua", () => {
    expect(propertiesOf("with its own")).toEqual({ $ip: "8.8.8.8", $ua: "Real", score: 1 });
  });

  test.each(["client_ip", "client_ua"])("%s of a wrong type is refused with 1004", async (field) => {
    for (const value of [{}, [], true]) {
      const answer = await collect("refused", { [field]: value });
      expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining(field) });
    }
  });

  test("X-Forwarded-For and similar headers are not trusted by default", () => {
    expect(propertiesOf("forwarded").$ip).toBe("127.0.0.1");
  });
});

describe("registration", () => {
  test("events of an unregistered client are answered with 2000 and not stored, until it registers", async () => {
    const own = await server.createApp();
    const events = [track("$MPLaunch"), track("$MPShow")];
    expect(await server.collect(own, "new", events)).toMatchObject({ status: 200, code: 2000, data: {} });
    expect(await tables.events(own)).toEqual([]);
    expect(await tables.ledger(own)).toEqual({});
    expect(await server.register(own, "new")).toMatchObject({ code: 0 });
    expect(await server.collect(own, "new", events)).toMatchObject({ code: 0, extra: {} });
    expect(await tables.eventNames(own)).toEqual(["$MPLaunch", "$MPShow"]);
  });

  test("no collect after an acknowledged registration is answered with 2000", async () => {
    const own = await server.createApp();
    const codes = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        await server.register(own, `c${index}`);
        return (await server.collect(own, `c${index}`, [track("e")])).code;
      }),
    );
    expect(codes).toEqual(Array(30).fill(0));
    expect(await tables.ledger(own)).toEqual({ received: 30, stored: 30 });
  });

  test("an app without required registration accepts events from any client", async () => {
    const own = await server.createApp();
    await tables.changeSettings("update app set require_registration = false where app_id = $1", [own.appId]);
    const probe = async () => (await server.collect(own, "probe", [track("probe")])).code;
    await expect.poll(probe).toBe(0);
    expect(await server.collect(own, "anybody", [track("free", { a: 1 })])).toMatchObject({ code: 0, extra: {} });
    expect(await tables.eventNames(own, "anybody")).toEqual(["free"]);
    expect(await tables.user(own, "anybody")).toMatchObject({ is_registered: false });
    await server.register(own, "anybody", { name: "Later" });
    expect(await tables.user(own, "anybody")).toMatchObject({ is_registered: true, name: "Later" });
  });
});
