import { type Sql, sql } from "./engine/sql.ts";

/**
 * The JSON text of the properties of the event e. Its table has a column for each form in which they have been stored: as text they
 * come and go as they are. As `jsonb`, like 0.2.0, storing an event with sixteen properties took 9 µs more of the database's
 * time, and 72 bytes more; as `json`, 1 µs more.
 */
export const eventPropertiesText: Sql = sql`coalesce(e.properties_text, e.properties_json::text, e.properties_jsonb::text)`;

/** The same for statements that look into them, which do so for few events. */
export const eventProperties: Sql = sql`${eventPropertiesText}::json`;
