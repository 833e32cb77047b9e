import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { dropEventDaysBefore } from "../../src/db/event-day.ts";
import { EventOrigins, storeOrigins } from "../../src/db/event-origin.ts";
import { ApplyStage, DAY_MS, NOW_MS, profile, track } from "./apply-stage.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const PHONE = { $brand: "华为", $os: "android", $device_id: "0123456789abcdef".repeat(8) };
const OTHER_PHONE = { ...PHONE, $os: "harmony" };

type Origin = { client: string; day: string; events: number };

/** What is stored of origins, with the events that name each of them. */
async function origins(): Promise<Origin[]> {
  const { rows } = await stage.pool.query<Origin>(
    `select o.client_id as client, o.day::text, (select count(*)::int from event e where e.app_id = o.app_id and e.day = o.day
        and e.client_id = o.client_id and e.origin_id = o.origin_id) as events
      from event_origin o order by 1, 2, 3`,
  );
  return rows;
}

/** The properties of events by their name, put together by hand. */
async function properties(clientId: string): Promise<Record<string, unknown>> {
  const { rows } = await stage.pool.query<{ event: string; text: string }>(
    `select event, coalesce(e.properties_text, o.properties_text || properties_rest) as text from event e
      left join event_origin o using (app_id, day, client_id, origin_id) where client_id = $1`,
    [clientId],
  );
  return Object.fromEntries(rows.map(({ event, text }) => [event, JSON.parse(text)]));
}

async function collect(clientId: string, ...events: object[]): Promise<void> {
  await stage.collect(clientId, events);
  await stage.applyAll();
}

test("events of a user's day share their origin, whether they come in one call, one batch or later", async () => {
  await stage.register("a");
  await stage.collect("a", [track("one", { ...PHONE, n: 1 }), track("two", { n: 2, ...PHONE })]);
  await collect("a", track("three", PHONE));
  await collect("a", track("four", { ...PHONE, n: [4] }));
  expect(await origins()).toEqual([{ client: "a", day: "2024-06-15", events: 4 }]);
  expect(await properties("a")).toEqual({
    one: { ...PHONE, n: 1 },
    two: { ...PHONE, n: 2 },
    three: PHONE,
    four: { ...PHONE, n: [4] },
  });
});

test("where each app has transactions of its own, origins are stored alike", async () => {
  await stage.restart();
  stage.byApp = true;
  await stage.register("a");
  await collect("a", track("one", { ...PHONE, n: "\\\t" }), track("two", PHONE));
  stage.byApp = undefined;
  expect(await origins()).toEqual([{ client: "a", day: "2024-06-15", events: 2 }]);
  expect(await properties("a")).toEqual({ one: { ...PHONE, n: "\\\t" }, two: PHONE });
});

test("each user and each day has origins of its own, and a user who has changed the phone has two", async () => {
  await stage.register("a");
  await stage.register("b");
  await stage.collect("a", [track("one", PHONE), track("two", OTHER_PHONE), track("three", PHONE)]);
  await stage.collect("a", [track("before", PHONE, NOW_MS - DAY_MS)]);
  await collect("b", track("one", PHONE));
  expect(await origins()).toEqual([
    { client: "a", day: "2024-06-14", events: 1 },
    { client: "a", day: "2024-06-15", events: 1 },
    { client: "a", day: "2024-06-15", events: 2 },
    { client: "b", day: "2024-06-15", events: 1 },
  ]);
  expect(await properties("a")).toEqual({ one: PHONE, two: OTHER_PHONE, three: PHONE, before: PHONE });
});

test("a short origin, and properties of a profile, stay with their event", async () => {
  await stage.register("a");
  await collect("a", track("short", { $os: "ios", n: 1 }), profile("profile_set", PHONE));
  expect(await origins()).toEqual([]);
  expect(await properties("a")).toEqual({ short: { $os: "ios", n: 1 }, profile_set: PHONE });
});

test("of two origins that share an id, the first one counts, in one batch or in two", async () => {
  const origin = { appId: stage.app.appId, day: "2024-06-15", clientId: "a", originId: 1 };
  const stored = async (...batches: string[][]) => {
    await stage.pool.query("delete from event_origin");
    for (const batch of batches) {
      const origins = new EventOrigins();
      for (const propertiesText of batch) origins.add({ ...origin, propertiesText });
      await inTransaction(stage.pool, (tx) => storeOrigins(tx, origins));
    }
    return (await stage.pool.query("select properties_text from event_origin")).rows;
  };
  expect(await stored(["{1", "{2"])).toEqual([{ properties_text: "{1" }]);
  expect(await stored(["{1"], ["{2"])).toEqual([{ properties_text: "{1" }]);
});

test("an event that is refused or repeated leaves no origin", async () => {
  await stage.register("a");
  await collect("a", track("one", PHONE));
  await stage.pool.query("delete from event_origin");
  await collect("a", track("one", PHONE));
  await stage.collect("stranger", [track("two", PHONE)], { registered: "unknown" });
  await stage.applyAll();
  expect(await origins()).toEqual([]);
});

test("a user who gets another id takes the origins along, and erased ones are gone", async () => {
  await stage.register("a");
  await collect("a", track("one", PHONE), track("two", PHONE));
  await stage.append("reset_client_id", "a", { new_client_id: "b" });
  await stage.applyAll();
  expect(await origins()).toEqual([{ client: "b", day: "2024-06-15", events: 2 }]);
  expect(await properties("b")).toEqual({ one: PHONE, two: PHONE });
  await stage.append("erase", "b", {});
  await stage.applyAll();
  expect(await origins()).toEqual([]);
});

test("the origins of days that are dropped go with them", async () => {
  await stage.register("a");
  await collect("a", track("before", PHONE, NOW_MS - DAY_MS), track("one", PHONE));
  await dropEventDaysBefore(stage.pool, "2024-06-15");
  expect(await origins()).toEqual([{ client: "a", day: "2024-06-15", events: 1 }]);
});
