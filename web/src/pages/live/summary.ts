import type { LiveCall } from "../../../../src/contract/live.ts";

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A call in a few words: its events, or the fields that identify it. */
export type Summary = { words: string[]; more: number };

const WORDS_MAX = 4;
/** Fields that identify a call. */
const TELLING = [
  ...["event_type", "company", "track_id", "click_id", "channel", "name", "wx_openid", "new_client_id", "os_name"],
  "user_list",
];

export function summaryOf({ body }: LiveCall): Summary {
  if (typeof body === "string") return { words: [body.slice(0, 60)], more: 0 };
  if (!isFields(body)) return { words: [], more: 0 };
  const events = eventNames(body);
  const words =
    events.length > 0 ? counted(events) : tellingWords(isFields(body.data) ? { ...body, ...body.data } : body);
  return { words: words.slice(0, WORDS_MAX), more: Math.max(0, words.length - WORDS_MAX) };
}

function eventNames({ event_list }: Fields): string[] {
  if (!Array.isArray(event_list)) return [];
  return event_list.map((event) => (isFields(event) ? textOf(event.event) : "?"));
}

/** `level_up ×3` */
function counted(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name));
}

function tellingWords(body: Fields): string[] {
  return TELLING.flatMap((name) => (textOf(body[name]) === "" ? [] : [`${name}=${textOf(body[name])}`]));
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join(",").slice(0, 40);
  return typeof value === "string" || typeof value === "number" ? String(value).slice(0, 40) : "";
}

/** The number of events that were not stored. An event with only a bad property is stored. */
export function rejectedOf({ errors }: LiveCall): number {
  return new Set(errors.filter(({ reason }) => reason !== "bad_property").map(({ index }) => index)).size;
}
