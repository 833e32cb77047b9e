/** Names that a question can ask for. */
export const PROPERTY_NAME = /^[A-Za-z$][A-Za-z0-9_]{0,49}$/;

/**
 * Properties of events that files have as columns of their own, beside the JSON of all: a question that splits or filters by
 * one need not read the JSON. They are texts that many events have, with few values, which take some bits each. Numbers have
 * none: they are compared and added up as the numbers that they are in the JSON.
 */
const COLUMNS = 8;
/** The least share of a file's events that have a property with a column. */
const SHARE = 1 / 20;
/** How many users each value of such a property has at least, on average: an id, or the name of a device, has one. */
const USERS_PER_VALUE = 4;
const VALUES = 256;

/** An event by which the columns of a file are chosen; `properties` as JSON. */
export type SampledEvent = { clientId: string; properties: string };

/** `users`: of each value, those who have it, once each. */
type Seen = { name: string; events: number; values: Set<unknown>; users: Set<string> };

/** Chooses them by some events of a file. */
export function chooseProperties(sample: readonly SampledEvent[]): string[] {
  const seen = new Map<string, Seen>();
  for (const { clientId, properties } of sample) {
    for (const [name, value] of Object.entries(JSON.parse(properties) as object)) {
      if ((typeof value !== "string" && typeof value !== "boolean") || !PROPERTY_NAME.test(name)) continue;
      const one = seen.get(name) ?? { name, events: 0, values: new Set(), users: new Set() };
      one.events += 1;
      one.values.add(value);
      one.users.add(`${clientId}\n${value}`);
      seen.set(name, one);
    }
  }
  const isWorthIt = ({ events, values, users }: Seen) =>
    events >= sample.length * SHARE &&
    values.size > 1 &&
    values.size <= VALUES &&
    values.size * USERS_PER_VALUE <= users.size;
  return firstOf([...seen.values()].filter(isWorthIt));
}

/**
 * The app's own properties come before those that every SDK sends, then the most frequent ones. Engines ignore case in the
 * names of columns: of properties that differ only in case, the first has the column.
 */
function firstOf(seen: readonly Seen[]): string[] {
  const inOrder = [...seen].sort(
    (a, b) => Number(isPreset(a.name)) - Number(isPreset(b.name)) || b.events - a.events || (a.name < b.name ? -1 : 1),
  );
  const names = new Map<string, string>();
  for (const { name } of inOrder) if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  return [...names.values()].slice(0, COLUMNS);
}

function isPreset(name: string): boolean {
  return name.startsWith("$");
}

/** The column of a property in files. Some engines know no names with a `$`. */
export function storedColumn(name: string): string {
  return isPreset(name) ? `preset_${name.slice(1)}` : `property_${name}`;
}

/** The column of a property in views. */
export function propertyColumn(name: string): string {
  return `event$${name}`;
}

const NAMED = /\bevent\$([A-Za-z$][A-Za-z0-9_]{0,49})/g;
const LITERAL = /('(?:[^']|'')*')/;

/** The properties that a statement names by their columns in views. */
export function propertiesNamedIn(statement: string): string[] {
  const names = new Set<string>();
  outsideLiterals(statement, (part) => {
    for (const [, name] of part.matchAll(NAMED)) names.add(name!);
    return part;
  });
  return [...names];
}

/** A statement in which everything but literals is changed. */
export function outsideLiterals(statement: string, change: (part: string) => string): string {
  return statement
    .split(LITERAL)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join("");
}
