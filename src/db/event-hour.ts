import { HOUR_MS } from "../domain/calendar.ts";
import { literal, type Sql, sql } from "./engine/sql.ts";

/**
 * The hour of an instant. Events are found by the index `event_user_hour`, which stores each hour of a user once: 9.5 to 20.5 bytes an
 * event, by how many fall into an hour. The key of instant and fingerprint before it stored every event: 103 to 120.
 */
export function hourOf(atMs: Sql): Sql {
  return sql`(${atMs} / ${literal(HOUR_MS)})`;
}

/** As the database divides. */
export function hourNumber(atMs: number): number {
  return Math.trunc(atMs / HOUR_MS);
}
