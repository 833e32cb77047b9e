import { allOf, type Executor, type InCamelCase, query, type Sql, sql } from "../../db/engine/sql.ts";
import type { Window } from "./list-request.ts";
import { isWhole, orderOf, type SortBy, type Sorts } from "./list-sort.ts";

/** Where the rows of a list come from, and the columns that are their key. */
export type Source = { keys: Sql; from: Sql };

/** Part of a list, which is read in its own order. `rows`: how many it holds, where that is known. */
export type Part = { where: Sql; order: Sql; rows?: number };

/** The keys of a page. Reads on in the next part when one has come to its end. */
export async function readParts<Key extends InCamelCase<Key>>(
  executor: Executor,
  source: Source,
  parts: readonly Part[],
  window: Window,
): Promise<Key[]> {
  const keys: Key[] = [];
  let { offset } = window;
  for (const part of parts) {
    const limit = window.limit - keys.length;
    if (limit === 0) break;
    if (part.rows !== undefined && offset >= part.rows) offset -= part.rows;
    else {
      const found = await readPart<Key>(executor, source, part, { limit, offset });
      keys.push(...found);
      const isBehind = found.length === 0 && offset > 0 && part !== parts.at(-1);
      // Rows may have come since the part was read.
      offset = isBehind ? Math.max(0, offset - (await countPart(executor, source, part))) : 0;
    }
  }
  return keys;
}

async function readPart<Key extends InCamelCase<Key>>(
  executor: Executor,
  { keys, from }: Source,
  { where, order }: Part,
  { limit, offset }: Window,
): Promise<Key[]> {
  return query<Key>(
    executor,
    sql`select ${keys} from ${from} where ${where} order by ${order} limit ${limit} offset ${offset}`,
  );
}

async function countPart(executor: Executor, { from }: Source, { where }: Part): Promise<number> {
  const [counted] = await query<{ rows: number }>(executor, sql`select count(*) as rows from ${from} where ${where}`);
  return counted!.rows;
}

/** A sorted list; `unique` orders equal rows. */
export type SortedList = { source: Source; where: Sql; sorts: readonly SortBy[]; fields: Sorts; unique: Sql };

/**
 * A list in two parts, cut at the value with which the page ends. An index that is sorted by nothing but the value tells
 * which one it is. Before it come fewer rows than the page reaches, which are quickly sorted. Those that have it may be
 * most of the list, but need no sorting by it any more, so they can be read from another index.
 */
export async function cutAtEnd(executor: Executor, list: SortedList, { limit, offset }: Window): Promise<Part[]> {
  const { source, where, sorts, fields, unique } = list;
  const order = orderOf(sorts, fields, [unique]);
  const [first] = sorts;
  const [leading, ...following] = first ? (fields[first.field] ?? []) : [];
  if (!first || !leading) return [{ where, order }];
  const isFalling = first.sort === 1;
  const reach = offset + limit;
  const [end] = await query<{ value: string | number; rows: number; reached: number }>(
    executor,
    sql`select value, count(*) as rows, (sum(count(*)) over ())::bigint as reached from (
        select ${leading} as value from ${source.from} where ${where}
        order by ${leading} ${isFalling ? sql`desc` : sql`asc`} limit ${reach}) row
      group by value order by value ${isFalling ? sql`asc` : sql`desc`} limit 1`,
  );
  if (!end || end.reached < reach) return [{ where, order }];
  const isBefore = isFalling ? sql`${leading} > ${end.value}` : sql`${leading} < ${end.value}`;
  const left = isWhole(first.field, end.value) ? [] : following;
  return [
    { where: allOf([where, isBefore]), order, rows: reach - end.rows },
    {
      where: allOf([where, sql`${leading} = ${end.value}`]),
      order: orderOf(sorts, { ...fields, [first.field]: left }, [unique]),
    },
  ];
}
