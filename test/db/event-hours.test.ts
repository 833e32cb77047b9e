import { createHash } from "node:crypto";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newUser } from "../../src/apply/facts/new-user.ts";
import type { App } from "../../src/db/app.ts";
import { COLD_NOWHERE } from "../../src/db/cold-event.ts";
import { inTransaction, preferIndexes } from "../../src/db/engine/pool.ts";
import type { Executor } from "../../src/db/engine/sql.ts";
import { type EventKey, findStoredEvents } from "../../src/db/event.ts";
import { openEventDays } from "../../src/db/event-day.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { readEvents } from "../../src/report/user/timeline-event.ts";
import { makeApp, migratedDatabase, type TempDatabase } from "./temp-database.ts";

const DAYS = ["2024-06-15", "2024-06-16"];
const SECOND_MS = 1_000;
const PER_HOUR = 3_600;
const PER_DAY = 24 * PER_HOUR;
const LAST_MS = Date.parse("2024-06-16") + (PER_DAY - 1) * SECOND_MS;

let database: TempDatabase;
let app: App;
/** The client "busy" has an event a second, for two days; a hundred others have one an hour. */
beforeAll(async () => {
  database = await migratedDatabase();
  const { pool } = database;
  app = await makeApp(pool, "UTC");
  await openEventDays(
    pool,
    DAYS.map((day) => ({ day, receivedAtMs: Date.parse(day) })),
  );
  for (const day of DAYS) {
    await pool.query(
      `insert into event (app_id, client_id, day, at_ms, fingerprint, type, event, properties_text, received_at_ms)
        select $1, client_id, $2::date, at_ms, md5(at_ms::text)::uuid, 'track', 'e', '{}', at_ms
        from (select 'busy', $3::bigint + n * 1000 from generate_series(0, $4::int) n
          union all select 'c' || n % 100, $3::bigint + n / 100 * 3600000 from generate_series(0, 2399) n) made (client_id, at_ms)`,
      [app.appId, day, Date.parse(day), PER_DAY - 1],
    );
  }
  // As the database does by itself, some time later.
  await pool.query("analyze event");
});
afterAll(() => database.drop());

test("a page of a user with an event a second reads the events of an hour or two, and pages follow each other", async () => {
  const user = newUser({ appId: app.appId, clientId: "busy" }, LAST_MS, { calendar: calendarOf("UTC") });
  user.latestEventAtMs = LAST_MS;
  const limit = 1_000;
  let bound: { atMs: number; key: readonly string[] | undefined } = { atMs: LAST_MS + 1, key: undefined };
  const seen: number[] = [];
  for (let page = 0; page < 5; page += 1) {
    const reads = new EventReads();
    const wanted = { bound, limit, timeZone: "UTC", event: undefined, cold: COLD_NOWHERE };
    const found = await readEvents(reads.of(database.pool), user, wanted);
    // The first row of each of the two days, and the hours of the page.
    expect(reads.rows).toBeLessThan(3 * PER_HOUR + limit);
    seen.push(...found.map(({ item }) => item.at_ms));
    bound = { atMs: found.at(-1)!.item.at_ms, key: found.at(-1)!.key };
  }
  expect(seen).toEqual(Array.from({ length: 5 * limit }, (_, index) => LAST_MS - index * SECOND_MS));
});

test("keys of one hour are looked up in one reading of it", async () => {
  const keys = (clientId: string, fromMs: number): EventKey[] =>
    Array.from({ length: PER_HOUR }, (_, second) => {
      const atMs = fromMs + second * SECOND_MS;
      return { appId: app.appId, clientId, day: DAYS[0]!, atMs, fingerprint: fingerprintAt(atMs) };
    });
  const fromMs = Date.parse(DAYS[0]!) + 7 * PER_HOUR * SECOND_MS;
  const reads = new EventReads();
  const stored = await inTransaction(database.pool, async (tx) => {
    // As apply does.
    await preferIndexes(tx);
    return findStoredEvents(reads.of(tx), [...keys("busy", fromMs), ...keys("c1", fromMs)]);
  });
  expect(stored.filter(({ clientId }) => clientId === "busy")).toEqual(keys("busy", fromMs));
  expect(stored.filter(({ clientId }) => clientId === "c1")).toEqual(keys("c1", fromMs).slice(0, 1));
  expect(reads.rows).toBe(PER_HOUR + 1);
});

function fingerprintAt(atMs: number): string {
  return createHash("md5").update(String(atMs)).digest("hex");
}

/** Counts the rows of the table of events that statements read. */
class EventReads {
  rows = 0;

  of(executor: Executor): Executor {
    const query = async (statement: pg.QueryConfig) => {
      const { rows } = await executor.query(`explain (analyze, format json) ${statement.text}`, statement.values);
      this.#add(rows[0]["QUERY PLAN"][0].Plan);
      return executor.query(statement);
    };
    return { query: query as Executor["query"] };
  }

  #add(plan: Record<string, unknown>): void {
    const numberOf = (name: string) => Number(plan[name] ?? 0);
    if (/^event_\d/.test(String(plan["Relation Name"]))) {
      const perLoop =
        numberOf("Actual Rows") + numberOf("Rows Removed by Filter") + numberOf("Rows Removed by Index Recheck");
      this.rows += Math.round(perLoop * numberOf("Actual Loops"));
    }
    for (const below of (plan.Plans ?? []) as Record<string, unknown>[]) this.#add(below);
  }
}
