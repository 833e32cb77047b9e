import { type Sql, sql } from "./sql.ts";

/** An app's cursor in a partition of a log: a row on the machine that has everything of the app. */
export type Place = { appId: number; journalId: string; partition: number };

/** The places of transactions, by connection. */
const places = new WeakMap<object, Place>();

/**
 * Does work in a transaction that has locked its app's cursor. What it inserts is selected beside that row: Citus passes
 * such a statement on to the app's machine as it is, with its parameters unread. Rows that come from nowhere, and those
 * of a COPY, it would read, make anew and send as a COPY of its own, and commit in two phases, whatever their number.
 */
export async function atPlace<T>(tx: object, place: Place, work: () => Promise<T>): Promise<T> {
  places.set(tx, place);
  try {
    return await work();
  } finally {
    places.delete(tx);
  }
}

export function placeOf(executor: object): Place | undefined {
  return places.get(executor);
}

/** The locked cursor as a table of a statement. It is one row, because its key is given. */
export function cursorAt({ appId, journalId, partition }: Place): Sql {
  return sql`(select app_id from app_cursor
    where app_id = ${appId} and journal_id = ${journalId} and partition = ${partition}) as own`;
}
