import type { KnownNames } from "../../analysis/names.ts";

const SOURCE = "ad_platform, advertiser_id, gid, aid, creative, csite, channel, os_platform, turbo_promoted_object_id";

const columns = (text: string) => text.split(",").map((name) => name.trim());

/** The views of an app and their columns, as docs/LAKE.md lists them. A test compares both. */
export const VIEWS: Readonly<Record<string, readonly string[]>> = {
  events: columns("client_id, event, type, time, received_time, properties, event_id, day, local_time"),
  users: columns(
    `client_id, registered_time, touched_time, cohort_day, version, ${SOURCE}, properties, registered_day`,
  ),
  orders: columns(
    "client_id, trace_id, time, received_time, pay_cents, refund_cents, currency, pay_count, is_virtual, properties, day, local_time",
  ),
  costs: columns(`${SOURCE}, impressions, clicks, cost_e4, day`),
};

/** What can be completed or inserted: a name, and the text that stands for it in a statement. */
export type Name = { name: string; text: string };

export const COLUMN_NAMES: readonly Name[] = [...Object.keys(VIEWS), ...new Set(Object.values(VIEWS).flat())].map(
  (name) => ({ name, text: name }),
);

export const eventName = (name: string): Name => ({ name, text: `'${name}'` });

/**
 * A property as text, of a row of any view. Names have letters, digits, _ and $, so that they need no escape. The operator
 * `->>` is shorter, but binds less than `=`, which surprises everybody.
 */
export const propertyName = (name: string): Name => ({ name, text: `json_extract_string(properties, '$."${name}"')` });

/** The column that the view of events has for a property. */
export const propertyColumn = (name: string): Name => ({ name: `event$${name}`, text: `event$${name}` });

export function allNames({ events, properties }: KnownNames): Name[] {
  const names = [...new Set(properties.map(({ name }) => name))];
  const ofEvents = properties.filter(({ scope }) => scope === "event").map(({ name }) => name);
  return [...COLUMN_NAMES, ...events.map(eventName), ...names.map(propertyName), ...ofEvents.map(propertyColumn)];
}

const SUGGESTIONS_MAX = 8;

/** The word that ends at the caret. */
export function wordBefore(statement: string, caret: number): string {
  return /[A-Za-z_$][\w$]*$/.exec(statement.slice(0, caret))?.[0] ?? "";
}

/** Names that begin with a word of at least two characters, those that are complete already left out. */
export function suggestionsFor(names: readonly Name[], word: string): Name[] {
  if (word.length < 2) return [];
  const wanted = word.toLowerCase();
  const found = names.filter(({ name }) => name.toLowerCase().startsWith(wanted) && name !== word);
  return found.slice(0, SUGGESTIONS_MAX);
}
