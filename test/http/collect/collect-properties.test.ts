import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
/** Parsed from a text, because the literal is not exact in binary. */
const LIMIT = Number("9999999999999.999");
const ADDRESS = { $ip: expect.any(String), $ua: expect.any(String) };

type Sent = { errors: Row[]; stored: Row };

/** One app and one client for all tests that declare nothing; events are told apart by their times. */
let shared: App;
let sent: Map<string, Sent>;
beforeAll(async () => {
  shared = await server.appWith(["a"]);
  sent = await sendAll([...STORED, ...LEFT_OUT, ...CUT]);
});

let lastMs = 0;
function nextMs(): number {
  lastMs = Math.max(lastMs + 1, Date.now());
  return lastMs;
}

const storedAt = async (app: App, time: number) => (await tables.events(app)).find((row) => row.at_ms === time)!;

/** Collects an event at this time with the properties beside a valid one; returns the reported errors. */
async function collect(app: App, properties: Row, time: number): Promise<Row[]> {
  const answer = await server.collect(app, "a", [track("held", { good: 1, ...properties }, time)]);
  expect(answer).toMatchObject({ status: 200, code: 0, msg: "success" });
  return answer.extra.errors ?? [];
}

async function send(properties: Row, app = shared): Promise<Sent> {
  const time = nextMs();
  const errors = await collect(app, properties, time);
  return { errors, stored: (await storedAt(app, time)).properties };
}

/** Sends the properties of all cases at once; returns what became of each, by its title. */
async function sendAll(cases: readonly (readonly [title: string, properties: Row, ...unknown[]])[]) {
  const times = cases.map(nextMs);
  const errors = await Promise.all(cases.map(([, properties], index) => collect(shared, properties, times[index]!)));
  const stored = new Map((await tables.events(shared)).map((row) => [row.at_ms, row.properties]));
  return new Map(cases.map(([title], index) => [title, { errors: errors[index]!, stored: stored.get(times[index]!) }]));
}

function nested(depth: number): Row {
  let value: Row = { end: "of the rope" };
  for (let level = 1; level < depth; level += 1) value = { a: value };
  return value;
}

const STORED: readonly [title: string, properties: Row][] = [
  ["a text", { a: "text", empty: "", script: '中文 🎮 \\ " \n\t' }],
  ["a number", { a: 1, b: -1.5, c: 0, d: 0.001 }],
  ["a number at the limit", { a: LIMIT, b: -LIMIT, c: 9999999999999 }],
  ["a truth value", { a: true, b: false }],
  ["a date-time", { a: "2024-02-29 23:59:59.123", b: "2024-02-29T23:59:59Z" }],
  ["a list of texts", { a: [], b: ["x", "y", ""] }],
  ["a list of 500 texts", { a: Array.from({ length: 500 }, (_, index) => `item${index}`) }],
  ["an object", { a: {}, b: { c: { d: [1, null, { e: true }] } } }],
  ["null", { a: null }],
  ["a text of 2,048 bytes", { a: "x".repeat(2048), b: "é".repeat(1024) }],
  ["named with 50 characters", { ["x".repeat(50)]: 1, A_1: 2 }],
  ["a preset", { $os: "iOS", $scene: 1001, $url_query: { a: "b" }, $lib: "python", $is_first_time: true }],
];

const titled = (what: string, value: unknown, properties: Row): [string, Row] => [
  `${what} ${JSON.stringify(value)}`,
  properties,
];
const LEFT_OUT: readonly [title: string, properties: Row][] = [
  ...["", " ", "1st", "_a", "a b", "a-b", "属性", "x".repeat(51), "a$b", "$no_preset", "a\u0001"].map((name) =>
    titled("its name is", name, { [name]: 1 }),
  ),
  ...[10000000000000, -10000000000000, 1e300].map((amount) => titled("its number is", amount, { amount })),
  ...[[1, 2], ["a", 1], [null], [["a"]], [{}]].map((list) =>
    titled("it is a list of anything but texts,", list, { list }),
  ),
  ...["$pay_amount", "$ecpm"].flatMap((name) =>
    ["12", true, ["1"]].map((value) => titled(`it is the money ${name}, but no number:`, value, { [name]: value })),
  ),
];

const CUT: readonly [title: string, properties: Row, kept: string][] = [
  ["of one byte each", { long: "x".repeat(2049) }, "x".repeat(2048)],
  ["of two bytes each", { long: "é".repeat(1025) }, "é".repeat(1024)],
  ["of three bytes each", { long: "中".repeat(1000) }, "中".repeat(682)],
  ["of four bytes each", { long: "🎮".repeat(600) }, "🎮".repeat(512)],
  ["with the limit inside a character", { long: `xxx${"🎮".repeat(600)}` }, `xxx${"🎮".repeat(511)}`],
  ["with the limit one byte into a character", { long: `${"x".repeat(2047)}é!` }, "x".repeat(2047)],
];

describe("a property is stored as sent if it is", () => {
  test.each(STORED)("%s", (title, properties) => {
    expect(sent.get(title)).toEqual({ errors: [], stored: { good: 1, ...properties, ...ADDRESS } });
  });
});

describe("a property is left out and reported, and the event stored, if", () => {
  test.each(LEFT_OUT)("%s", (title, properties) => {
    const { errors, stored } = sent.get(title)!;
    const told = { index: 0, event: "held", reason: "bad_property", message: expect.stringMatching(/left out\.$/) };
    expect(errors).toEqual([told]);
    expect(errors[0]!.message).toContain(JSON.stringify(Object.keys(properties)[0]).slice(0, 50));
    expect(stored).toEqual({ good: 1, ...ADDRESS });
  });

  test("its number is beyond a double", async () => {
    const time = nextMs();
    const body = `{"client_id":"a","event_list":[{"type":"track","event":"held","time":${time},"properties":{"big":1e999,"long":123456789012345678901234567890,"good":1}}]}`;
    const answer = await server.post("event/collect/", shared, body);
    expect(answer.extra.errors.map(({ reason }: Row) => reason)).toEqual(["bad_property", "bad_property"]);
    expect((await storedAt(shared, time)).properties).toEqual({ good: 1, ...ADDRESS });
  });

  test.each([20, 1_000, 20_000])("its object is nested %i levels deep", async (depth) => {
    const deep = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    const time = nextMs();
    const event = (name: string, properties: string) =>
      `{"type":"track","event":"${name}","time":${time},"properties":${properties}}`;
    const list = [event("before", "{}"), event("held", `{"good":1,"deep":${deep}}`), event("after", "{}")];
    const answer = await server.post("event/collect/", shared, `{"client_id":"a","event_list":[${list}]}`);
    expect(answer).toMatchObject({ code: 0, extra: { errors: [{ index: 1, event: "held", reason: "bad_property" }] } });
    const stored = (await tables.events(shared)).filter((row) => row.at_ms === time);
    expect(stored.map((row) => row.event)).toEqual(["after", "before", "held"]);
    expect(stored[2]!.properties).toEqual({ good: 1, ...ADDRESS });
  });

  test("its list is nested very deeply", async () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const time = nextMs();
    const event = `{"type":"track","event":"held","time":${time},"properties":{"good":1,"deep":${deep}}}`;
    const answer = await server.post("event/collect/", shared, `{"client_id":"a","event_list":[${event}]}`);
    expect(answer).toMatchObject({ code: 0, extra: { errors: [{ reason: "bad_property" }] } });
    expect((await storedAt(shared, time)).properties).toEqual({ good: 1, ...ADDRESS });
  });

  test("it is not declared in a strict app", async () => {
    const app = await server.appWith(["a"], { metadataMode: "strict" });
    const answer = await server.collect(app, "a", [track("$AppStart", { surprise: 1, $os: "ios" })]);
    expect(answer.extra.errors).toMatchObject([{ index: 0, event: "$AppStart", reason: "bad_property" }]);
    expect((await tables.events(app))[0]!.properties).toEqual({ $os: "ios", ...ADDRESS });
  });
});

describe("a property that is only too long is cut and reported", () => {
  test.each(CUT)("a text over 2,048 bytes, of characters %s, keeps whole characters", (title, _properties, kept) => {
    const { errors, stored } = sent.get(title)!;
    expect(errors).toMatchObject([{ reason: "bad_property", message: expect.stringMatching(/"long".* cut/) }]);
    expect(stored).toEqual({ good: 1, long: kept, ...ADDRESS });
    expect(Buffer.byteLength(stored.long)).toBeLessThanOrEqual(2048);
  });

  test("a list over 500 texts keeps the first 500", async () => {
    const list = Array.from({ length: 501 }, (_, index) => `item${index}`);
    const { errors, stored } = await send({ list });
    expect(errors).toMatchObject([{ reason: "bad_property", message: expect.stringMatching(/"list".* cut/) }]);
    expect(stored.list).toEqual(list.slice(0, 500));
  });

  test("a text in a list is cut like any other text", async () => {
    const { errors, stored } = await send({ list: ["short", "中".repeat(1000)] });
    expect(errors).toMatchObject([{ reason: "bad_property" }]);
    expect(stored.list).toEqual(["short", "中".repeat(682)]);
  });
});

describe("a declared type", () => {
  const values: Record<string, unknown> = {
    string: "text",
    number: 1.5,
    bool: true,
    datetime: "2024-01-02 03:04:05",
    list: ["a"],
    object: { a: 1 },
  };
  const types = Object.keys(values);

  const propertyOf = (declared: string) => `as_${declared}`;
  const everyProperty = (valueFor: (declared: string) => unknown): Row =>
    Object.fromEntries(types.map((declared) => [propertyOf(declared), valueFor(declared)]));

  /** What became of an event in which the property of every type has the value of this one. */
  const sentAs = new Map<string, Sent>();
  beforeAll(async () => {
    const app = await server.appWith(["a"]);
    for (const declared of types)
      await tables.changeSettings(
        `insert into property_meta (app_id, scope, name, type, state, changed_at_ms) values ($1, 'event', $2, $3, 'declared', 0)`,
        [app.appId, propertyOf(declared), declared],
      );
    const misfits = everyProperty((declared) => (declared === "object" ? true : {}));
    await eventually(async () => {
      const { extra } = await server.collect(app, "a", [track("probe", misfits)]);
      expect(extra.errors).toHaveLength(types.length);
    });
    for (const type of types)
      sentAs.set(
        type,
        await send(
          everyProperty(() => values[type]),
          app,
        ),
      );
  });

  test.each(types)("%s accepts values of that type and leaves out all others", (declared) => {
    // A date-time is written as a text, so a text property accepts it too.
    const fits = types.filter((type) => type === declared || (declared === "string" && type === "datetime"));
    for (const type of types) {
      const { errors, stored } = sentAs.get(type)!;
      const told = errors.filter(({ message }) => message.includes(`"${propertyOf(declared)}"`));
      expect({ type, told: told.map(({ reason }) => reason), stored: stored[propertyOf(declared)] }).toEqual({
        type,
        told: fits.includes(type) ? [] : ["bad_property"],
        stored: fits.includes(type) ? values[type] : undefined,
      });
    }
  });

  test("of an event property does not apply to the user property of the same name", async () => {
    const app = await server.appWith(["a"]);
    await tables.changeSettings(
      `insert into property_meta (app_id, scope, name, type, state, changed_at_ms) values ($1, 'event', 'p', 'number', 'declared', 0)`,
      [app.appId],
    );
    const isNoticed = async () => (await server.collect(app, "a", [track("probe", { p: "x" })])).extra.errors?.length;
    await expect.poll(isNoticed).toBe(1);
    const set = { type: "profile", event: "profile_set", time: Date.now(), properties: { p: "text" } };
    expect(await server.collect(app, "a", [set])).toMatchObject({ code: 0, extra: {} });
    expect((await tables.user(app, "a"))!.properties).toEqual({ p: "text" });
  });
});

test("one event may have several bad properties, each reported by itself", async () => {
  const properties = { "bad name": 1, huge: 1e15, long: "x".repeat(3000), fine: "yes" };
  const { errors, stored } = await send(properties);
  expect(errors.map(({ reason }) => reason)).toEqual(["bad_property", "bad_property", "bad_property"]);
  expect(stored).toEqual({ good: 1, long: "x".repeat(2048), fine: "yes", ...ADDRESS });
});

test("an object within its depth is kept whole", async () => {
  const { errors, stored } = await send({ deep: nested(10) });
  expect(errors).toEqual([]);
  expect(stored.deep).toEqual(nested(10));
});
