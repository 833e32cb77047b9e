import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { exportRows } from "../../src/report/list/export.ts";
import { readTimeline, readTimelineWish } from "../../src/report/user/timeline.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, track } from "./apply-stage.ts";
import { rowsOf } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

async function partitions(): Promise<string[]> {
  const { rows } = await stage.pool.query(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'event'::regclass order by 1",
  );
  return rows.map(({ name }) => name);
}

/** One event on each of many days, a thousand per entry, as an import sends them. */
async function importDays(client: string, count: number, lastMs = NOW_MS): Promise<number[]> {
  const times = Array.from({ length: count }, (_, back) => lastMs - back * DAY_MS);
  for (let at = 0; at < count; at += 1_000) {
    await stage.collect(
      client,
      times.slice(at, at + 1_000).map((time) => track("e", { n: 1 }, time)),
    );
  }
  return times;
}

async function timelineOf(clientId: string): Promise<number[]> {
  const times: number[] = [];
  for (let before: string | undefined; ; ) {
    const wish = readTimelineWish(clientId, { kinds: "event", limit: "200", ...(before !== undefined && { before }) });
    const page = await readTimeline(stage.pool, stage.app, wish);
    times.push(...page!.items.map((item) => item.at_ms));
    if (page!.next === null) return times;
    before = page!.next;
  }
}

async function exported(fromDay: string, untilDay: string): Promise<number> {
  const what = { kind: "events", fromDay, untilDay } as const;
  return exportRows(stage.pool, stage.app, { what, format: "ndjson", write: async () => {} });
}

const TWENTY_YEARS = 7_305;

test("twenty years of days share a few partitions, and accept events like every other day", async () => {
  await stage.register("u");
  const times = await importDays("u", TWENTY_YEARS);
  await stage.applyAll();
  // The day of receipt and eleven before it, fourteen months, twenty years.
  expect(await partitions()).toHaveLength(12 + 14 + 20);
  expect([await stage.ledger(), await stage.count("user_day")]).toEqual([
    { received: TWENTY_YEARS, stored: TWENTY_YEARS },
    TWENTY_YEARS,
  ]);
  expect(await timelineOf("u")).toEqual(times);
  expect(await exported("2010-02-01", "2010-03-01")).toBe(28);

  await importDays("u", TWENTY_YEARS);
  await stage.restart();
  await stage.applyAll();
  expect(await stage.ledger()).toEqual({ received: 2 * TWENTY_YEARS, stored: TWENTY_YEARS, duplicate: TWENTY_YEARS });

  await stage.append("reset_client_id", "u", { new_client_id: "v" });
  await stage.applyAll();
  expect(await stage.count("event where client_id = 'v'")).toBe(TWENTY_YEARS);
  await stage.append("erase", "v", {}, { at: NOW_MS + 1 });
  await stage.applyAll();
  expect(await stage.count("event")).toBe(0);
});

test("days of a user whose touch comes late are counted anew, no matter how long ago they are", async () => {
  const touchedAtMs = NOW_MS - 3_001 * DAY_MS;
  const click = () => stage.append("click", "", `company=vivo&oaid=d&ts=${touchedAtMs}`, { at: touchedAtMs });
  const live = async (client: string) => {
    const history_info = { create_time: touchedAtMs + 3 * HOUR_MS };
    await stage.append("initialize", client, { ...HISTORY, history_info, device_info: { oaid: "d" } });
    const times = [3_000, 300, 30, 3].map((days) => NOW_MS - days * DAY_MS);
    await stage.collect(
      client,
      times.flatMap((time, index) => [track("e", {}, time), pay(`${client}${index}`, 5, {}, time)]),
    );
    await stage.applyAll();
  };
  const daysOf = async (client: string) => {
    const rows = (await rowsOf(stage.pool, "user_day")) as { client_id: string }[];
    return rows.filter((row) => row.client_id === client).map(({ client_id: _, ...row }) => row);
  };
  await live("late");
  const before = await daysOf("late");
  await click();
  await live("early");
  expect(await daysOf("late")).toHaveLength(5);
  expect(await daysOf("late")).toEqual(await daysOf("early"));
  expect(await daysOf("late")).not.toEqual(before);
});

const HISTORY = { name: "n", channel: "c", version: 1 };

test("retention drops a shared partition when its last day is past, and its days accept no more events", async () => {
  await stage.register("u");
  const months = [40, 70, 100].map((days) => NOW_MS - days * DAY_MS);
  await stage.collect(
    "u",
    months.map((time) => track("e", {}, time)),
  );
  await stage.applyAll();
  expect(await partitions()).toEqual(["event_20240301_20240401", "event_20240401_20240501", "event_20240501_20240601"]);
  // 6 May and 6 April are kept, and so are the other days of April: they go together.
  await stage.applier.dropDaysBefore("2024-04-20");
  expect(await partitions()).toEqual(["event_20240401_20240501", "event_20240501_20240601"]);
  await stage.collect("u", [track("f", {}, months[1]), track("f", {}, months[2]), track("f", {}, months[2]! + DAY_MS)]);
  await stage.applyAll();
  expect(await stage.ledger()).toEqual({ received: 6, stored: 4, too_old: 2 });
  const before = await rowsOf(stage.pool, "user_day");
  await stage.restart();
  await stage.applier.dropDaysBefore("2024-06-01");
  expect([await partitions(), await rowsOf(stage.pool, "user_day")]).toEqual([[], before]);
});

const AHEAD_MS = NOW_MS + 400 * DAY_MS;
const ahead = (days: number) => NOW_MS + days * DAY_MS;

test("the future is one partition, and a day in it that comes near gets its own with all its events", async () => {
  await stage.register("u");
  const future = [20, 21, 60, 200, 9_000].map(ahead);
  await stage.collect(
    "u",
    future.map((time) => track("e", {}, time)),
  );
  await stage.applyAll();
  expect(await partitions()).toEqual(["event_20240628_on"]);

  // 5 July.
  await stage.collect("u", [track("live", {}, ahead(20))], { at: ahead(20) });
  await stage.applyAll();
  expect(await partitions()).toEqual(["event_20240705", "event_20240706", "event_20240814", "event_20240901_on"]);
  expect(await timelineOf("u")).toEqual([ahead(9_000), ahead(200), ahead(60), ahead(21), ahead(20), ahead(20)]);
  expect(await exported("2024-07-05", "2024-07-06")).toBe(2);

  // The remaining days are split off in time, and an empty partition is removed.
  await stage.collect("u", [track("live", {}, ahead(8_999))], { at: ahead(8_999) });
  await stage.applyAll();
  expect((await partitions()).filter((name) => name.endsWith("_on"))).toEqual([]);
  expect([await stage.count("event"), await stage.setAside()]).toEqual([7, []]);
});

test("while a reader holds events for long, a day goes on sharing, and the next one is split off", async () => {
  await stage.register("u");
  await stage.collect("u", [track("e", {}, AHEAD_MS)]);
  await stage.applyAll();
  const reader = await stage.pool.connect();
  await reader.query("begin");
  await reader.query("select count(*) from event");
  for (const days of [20, 20]) await stage.collect("u", [track("live", { days }, ahead(days))], { at: ahead(days) });
  await stage.applyAll();
  expect(await partitions()).toEqual(["event_20240628_on"]);
  await reader.query("commit");
  reader.release();
  await stage.collect("u", [track("live", {}, ahead(21))], { at: ahead(21) });
  await stage.applyAll();
  expect(await partitions()).toEqual(["event_20240705", "event_20240706", "event_20240901_on"]);
  expect(await stage.ledger()).toEqual({ received: 4, stored: 3, duplicate: 1 });
});

test("the same journal makes the same partitions, however it is cut", async () => {
  await stage.register("u");
  const entries: [receivedDays: number, days: number[]][] = [
    [0, [0, -30, 40]],
    [10, [-30, -2, 10, 40, -400, -1_000]],
    [39, [40, 41, 500, -31]],
    [41, [41, 40, 25, -3]],
  ];
  const ends: number[] = [];
  for (const [received, days] of entries) {
    await stage.collect(
      "u",
      days.map((day) => track("e", { received }, ahead(day))),
      { at: ahead(received) },
    );
    ends.push(stage.journal.durable);
  }
  const tables = async () => [
    await rowsOf(stage.pool, "event_day"),
    await partitions(),
    await rowsOf(stage.pool, "event"),
  ];
  await stage.applyInSteps([]);
  const whole = await tables();
  await stage.applyInSteps(ends);
  expect(await tables()).toEqual(whole);
});
