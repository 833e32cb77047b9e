import { readSettled } from "../../db/cold-event.ts";
import { type Executor, query, sql } from "../../db/engine/sql.ts";
import { loadKeptParts } from "../../db/event-day.ts";
import { hourOf } from "../../db/event-hour.ts";
import { eventProperties, withOrigin } from "../../db/event-properties.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { calendarOf } from "../../domain/calendar.ts";
import type { JsonObject } from "../../domain/json.ts";
import { type AdRevenue, adRevenueReader } from "./ad-revenue.ts";
import type { Entry, Page } from "./timeline-source.ts";

type StoredEvent = {
  atMs: number;
  fingerprint: string;
  type: "track" | "profile";
  event: string;
  properties: JsonObject;
  receivedAtMs: number;
};

/** The number of partitions searched first; each further search covers four times as many. */
const PARTS_FIRST = 8;
const PARTS_FACTOR = 4;

/**
 * Events are stored in nearly one partition per day, and a statement over thousands of them takes longer to plan than
 * to run. So the newest days are searched first: that is enough for active users, and the others have few events.
 */
export async function readEvents(executor: Executor, user: UserAccount, page: Page): Promise<Entry[]> {
  if (user.latestEventAtMs === null) return [];
  return readSettled(executor, user.appId, () => entriesOf(executor, user, page));
}

async function entriesOf(executor: Executor, user: UserAccount, page: Page): Promise<Entry[]> {
  const calendar = calendarOf(page.timeZone);
  const untilDay = calendar.dayOf(Math.min(page.bound.atMs, user.latestEventAtMs ?? 0));
  const parts = await loadKeptParts(executor, untilDay);
  const found: StoredEvent[] = [];
  const firstCold = parts.findIndex(({ state }) => state === "cold");
  let [from, count] = [0, PARTS_FIRST];
  while (from < parts.length && found.length < page.limit) {
    // Days that are only in the lake come apart: a page that is full without them reads no file.
    const end = from < firstCold ? Math.min(from + count, firstCold) : from + count;
    const looked = parts.slice(from, end);
    const range = { from: looked.at(-1)!.from, until: looked[0]!.until };
    const isCold = looked.some(({ state }) => state === "cold");
    const wanted = { ...page, limit: page.limit - found.length };
    const stored = await eventsOfDays(executor, user, range, wanted);
    found.push(
      ...(isCold ? merged(stored, await coldEventsOfDays(executor, user, range, wanted), wanted.limit) : stored),
    );
    [from, count] = [end, count * PARTS_FACTOR];
  }
  const revenueOf = await adRevenueReader(executor, user, { events: found, calendar, cold: page.cold });
  return found.map((event) => ({
    key: [event.fingerprint],
    item: {
      kind: "event",
      at: calendar.textOf(event.atMs),
      at_ms: event.atMs,
      id: event.fingerprint,
      type: event.type,
      event: event.event,
      properties: event.properties,
      received_at: calendar.textOf(event.receivedAtMs),
      ...withRevenue(revenueOf(event)),
    },
  }));
}

/** The newest of both. */
function merged(stored: StoredEvent[], cold: readonly StoredEvent[], limit: number): StoredEvent[] {
  const isLater = (one: StoredEvent, other: StoredEvent) =>
    one.atMs !== other.atMs ? one.atMs > other.atMs : one.fingerprint > other.fingerprint;
  return [...stored, ...cold].sort((one, other) => (isLater(one, other) ? -1 : 1)).slice(0, limit);
}

function withRevenue(ad_revenue: AdRevenue): { ad_revenue?: NonNullable<AdRevenue> } {
  return ad_revenue === undefined ? {} : { ad_revenue };
}

const LEAST_FINGERPRINT = "0".repeat(32);
const HOUR = hourOf(sql`e.at_ms`);

/** Hour by hour, as the index has them: a page of a user with a million events a day reads few of them. */
async function eventsOfDays(
  executor: Executor,
  { appId, clientId }: UserAccount,
  days: { from: string; until: string },
  { bound, limit, event }: Page,
): Promise<StoredEvent[]> {
  const named = event === undefined ? sql`` : sql`and e.event = ${event}`;
  return query<StoredEvent>(
    executor,
    sql`select e.at_ms, replace(e.fingerprint::text, '-', '') as fingerprint, e.type, e.event, ${eventProperties} as properties,
        e.received_at_ms
      from event e ${withOrigin}
      where e.app_id = ${appId} and e.client_id = ${clientId} and e.day >= ${days.from}::date and e.day < ${days.until}::date
        and ${HOUR} <= ${hourOf(sql`${bound.atMs}::bigint`)}
        and (e.at_ms, e.fingerprint) < (${bound.atMs}::bigint, ${bound.key?.[0] ?? LEAST_FINGERPRINT}::uuid) ${named}
      order by ${HOUR} desc, e.at_ms desc, e.fingerprint desc limit ${limit}`,
  );
}

async function coldEventsOfDays(
  executor: Executor,
  { appId, clientId }: UserAccount,
  days: { from: string; until: string },
  { bound, limit, event, cold }: Page,
): Promise<StoredEvent[]> {
  const names = event === undefined ? {} : { names: [event] };
  const wish = { appId, clientIds: [clientId], fromDay: days.from, untilDay: days.until, ...names };
  const before = { atMs: bound.atMs, fingerprint: bound.key?.[0] ?? LEAST_FINGERPRINT };
  const rows = await cold.load(executor, wish, { before, limit });
  return rows.map((row) => ({
    ...row,
    type: row.type as StoredEvent["type"],
    properties: JSON.parse(row.properties) as JsonObject,
  }));
}
