import type { SavedRef, Segment } from "../../../src/contract/analysis/segment.ts";
import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import { addDays, dayOf } from "../oracle-days.ts";
import type { Luck } from "./luck.ts";

/** What happened in an app, from which both the views and the expected answers are made. */
export type Event = {
  client: string;
  event: string;
  type: "track" | "profile";
  ms: number;
  receivedMs: number;
  properties: JsonObject;
  id: string;
};

export type Order = {
  client: string;
  traceId: string;
  ms: number;
  receivedMs: number;
  payCents: number;
  refundCents: number;
  currency: string;
  payCount: number;
  isVirtual: boolean;
  properties: JsonObject;
};

export type User = {
  client: string;
  registeredMs: number;
  touchedMs: number | null;
  version: number;
  properties: JsonObject;
  columns: Record<(typeof TEXT_COLUMNS)[number], string>;
};

export type Market = {
  zone: string;
  fromDay: string;
  toDay: string;
  events: Event[];
  orders: Order[];
  users: User[];
  /** Segments that somebody has saved, by id and by name. */
  saved?: ReadonlyMap<SavedRef, Segment>;
};

export const TEXT_COLUMNS = [
  ...(["channel", "ad_platform", "advertiser_id", "gid", "aid", "creative", "csite"] as const),
  ...(["turbo_promoted_object_id", "os_platform"] as const),
];

/** Zones and days around their clock changes; some change by half an hour, or in the middle of a day. */
const ZONES = [
  ["Asia/Shanghai", "2026-02-26"],
  ["America/New_York", "2026-03-06"],
  ["Europe/Berlin", "2026-10-22"],
  ["Australia/Lord_Howe", "2026-04-02"],
  ["America/St_Johns", "2026-10-30"],
  ["Asia/Kathmandu", "2025-12-29"],
] as const;

export const EVENT_NAMES = ["login", "level_up", "ad_show", "it's odd", "$pay"] as const;
export const PROPERTY_NAMES = ["level", "item", "$city", "Ok"] as const;

/** Texts that are mistaken for something else, or that end a literal when it is not quoted well. */
export const TEXTS = [
  ...["", "10", "1.5", "true", "null", " 12", "o'clock", "''", 'a"b', "a\\", "-- x", "/*", "两个", "é", "🎮", "\uE000"],
  ...["line\nbreak", "tab\t", "%", "_", "{}", "ab", "abc", "ABC", "NaN", "1e3", "$1", "?", "; drop table events"],
] as const;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** `times` as many clients, events and orders as a small market. */
export function randomMarket(luck: Luck, times = 1): Market {
  const [zone, fromDay] = luck.of(ZONES);
  const days = luck.between(3, 16);
  const startMs = Date.parse(`${fromDay}T00:00:00Z`) - DAY_MS;
  // Few distinct times make ties; the rest is spread over the range and a day around it.
  const ticks = luck.some(4, 12, () => startMs + luck.below((days + 2) * DAY_MS));
  const anyMs = () =>
    luck.isTrue(0.3)
      ? luck.of(ticks)
      : luck.isTrue(0.4)
        ? luck.of(ticks) + luck.below(90) * MINUTE_MS
        : startMs + luck.below((days + 2) * DAY_MS);
  const clients = luck.some(3 * times, 14 * times, (index) => `${luck.of(["u", "用户", "U'", "z"])}${index}`);
  const time = () => {
    const ms = anyMs();
    return { ms, receivedMs: ms + (luck.isTrue(0.2) ? luck.below(5 * DAY_MS) : 500) };
  };
  const events = luck.some(times > 1 ? 80 * times : 0, 160 * times, (index): Event => {
    const type = luck.isTrue(0.9) ? "track" : "profile";
    const event = type === "track" ? luck.of(EVENT_NAMES) : "$profile";
    return { client: luck.of(clients), event, type, ...time(), properties: randomProperties(luck), id: uuidOf(index) };
  });
  const orders = luck.some(0, 40 * times, (index): Order => {
    const payCents = luck.of([1, 600, 3_000, 64_800, 999_999_999]);
    const refundCents = luck.isTrue(0.7) ? 0 : luck.between(1, payCents);
    const ids = { client: luck.of(clients), traceId: `t${index}` };
    const count = { payCount: luck.between(1, 4), isVirtual: luck.isTrue(0.2), currency: luck.of(["CNY", "USD", ""]) };
    return { ...ids, ...time(), payCents, refundCents, ...count, properties: randomProperties(luck) };
  });
  const users = [...clients, "idle"]
    // Once in a while a client has no row, which the lake does not promise away.
    .filter(() => luck.isTrue(0.97))
    .map((client) => randomUser(luck, client, anyMs));
  return { zone, fromDay, toDay: addDays(fromDay, days - 1), events, orders, users };
}

function randomUser(luck: Luck, client: string, anyMs: () => number): User {
  const columns = Object.fromEntries(TEXT_COLUMNS.map((name) => [name, luck.of(["", "a", "b'c", "77"])]));
  return {
    client,
    registeredMs: anyMs(),
    touchedMs: luck.isTrue(0.5) ? anyMs() : null,
    version: luck.between(1, 3),
    properties: randomProperties(luck),
    columns: { ...(columns as User["columns"]), ad_platform: luck.of(["natural", "kuaishou", "tencent"]) },
  };
}

function randomProperties(luck: Luck): JsonObject {
  const names = PROPERTY_NAMES.filter(() => luck.isTrue(0.7));
  return Object.fromEntries(names.map((name) => [name, randomValue(luck)]));
}

function randomValue(luck: Luck): JsonValue {
  switch (luck.below(8)) {
    case 0:
      return luck.of(TEXTS);
    case 1:
      return luck.of([true, false, null, [], ["x"], { a: 1 }]);
    case 2:
      return luck.of([0.1, 0.25, -3, 12.345678, 9_999_999_999_999.998, -0.5]);
    case 3:
      return luck.of(["ab", "abc", "two words"]);
    default:
      return luck.between(0, 12);
  }
}

function uuidOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** The wall clock: YYYY-MM-DD HH:mm:ss.SSS. */
export function localText(ms: number, timeZone: string): string {
  const clock = clocks.get(timeZone) ?? clockOf(timeZone);
  clocks.set(timeZone, clock);
  return `${dayOf(ms, timeZone)} ${clock.format(ms)}.${String(ms % 1_000).padStart(3, "0")}`;
}

function clockOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat("en-GB", {
    timeZone,
    hourCycle: "h23",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
}
