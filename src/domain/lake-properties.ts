import { NAME } from "./event/metadata.ts";

/**
 * Properties of events that files have as columns of their own, beside the JSON of all: a question that splits or filters by
 * one need not read the JSON. They are texts that many events have, with few values, which take some bits each. Numbers have
 * none: they are compared and added up as the numbers that they are in the JSON.
 */
const COLUMNS = 8;
/** The least share of a file's events that have a property with a column. */
const SHARE = 1 / 20;
/** How many events each value of such a property has at least, on average. */
const EVENTS_PER_VALUE = 4;
const VALUES = 256;

type Seen = { name: string; events: number; values: Set<unknown> };

/** Chooses them by the properties of some events of a file, as JSON texts. */
export function chooseProperties(samples: readonly string[]): string[] {
  const seen = new Map<string, Seen>();
  for (const sample of samples) {
    for (const [name, value] of Object.entries(JSON.parse(sample) as object)) {
      if (typeof value !== "string" && typeof value !== "boolean") continue;
      const one = seen.get(name) ?? { name, events: 0, values: new Set() };
      one.events += 1;
      one.values.add(value);
      seen.set(name, one);
    }
  }
  const isRepeated = ({ events, values }: Seen) => values.size <= VALUES && values.size * EVENTS_PER_VALUE <= events;
  return mostOf([...seen.values()].filter(isRepeated), samples.length);
}

/** The columns of a file that is made of others. */
export function mergeProperties(files: readonly { rows: number; properties: readonly string[] }[]): string[] {
  const seen = new Map<string, number>();
  for (const { rows, properties } of files) for (const name of properties) seen.set(name, (seen.get(name) ?? 0) + rows);
  return mostOf(
    [...seen].map(([name, events]) => ({ name, events })),
    files.reduce((sum, { rows }) => sum + rows, 0),
  );
}

/** Engines take columns for the same whose names differ only in case: of such properties, the most frequent one gets it. */
function mostOf(seen: readonly { name: string; events: number }[], all: number): string[] {
  const frequent = seen.filter(({ name, events }) => NAME.test(name) && events >= all * SHARE);
  const inOrder = frequent.sort((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1));
  const names = new Map<string, string>();
  for (const { name } of inOrder) if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name);
  return [...names.values()].slice(0, COLUMNS);
}

/** The column of a property, in files and in views. */
export function propertyColumn(name: string): string {
  return `event$${name}`;
}

/** The properties that a statement names by their columns. */
export function propertiesNamedIn(statement: string): string[] {
  return [...new Set([...statement.matchAll(/\bevent\$([A-Za-z$][A-Za-z0-9_]{0,49})/g)].map(([, name]) => name!))];
}
