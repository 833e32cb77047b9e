import { type Sql, sql } from "./engine/sql.ts";

/**
 * The properties of the event e, whose table has two columns for them. As `json` they are stored as they come; 0.2.0 stored them as
 * `jsonb`, which took 8 µs more of the database's time for an event with sixteen properties, and 72 bytes more.
 * Statements read the properties of few events.
 */
export const eventProperties: Sql = sql`coalesce(e.properties_json, e.properties_jsonb::json)`;
