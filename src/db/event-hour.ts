import { HOUR_MS } from "../domain/calendar.ts";
import { literal, type Sql, sql } from "./engine/sql.ts";

/**
 * The hour of an instant. Events are found by the index `event_user_hour`, which holds the hours in which a user has some, and
 * each hour once: with the instants themselves it would be five times as large, because no two events of a user share theirs.
 */
export function hourOf(atMs: Sql): Sql {
  return sql`(${atMs} / ${literal(HOUR_MS)})`;
}

/** As the database divides. */
export function hourNumber(atMs: number): number {
  return Math.trunc(atMs / HOUR_MS);
}
