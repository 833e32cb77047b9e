import { type Sql, sql } from "./engine/sql.ts";

/**
 * The JSON text of the properties of the event e, for statements that join its origin. Its table has a column for each form in
 * which they have been stored: as text they come and go as they are. As `jsonb`, like 0.2.0, storing an event with sixteen
 * properties took 9 µs more of the database's time, and 72 bytes more; as `json`, 1 µs more.
 */
export const eventPropertiesText: Sql = sql`coalesce(e.properties_text, origin.properties_text || e.properties_rest,
  e.properties_json::text, e.properties_jsonb::text)`;

/** The same for statements that look into them, which do so for few events. */
export const eventProperties: Sql = sql`${eventPropertiesText}::json`;

/** Joins the event e and what it has in common with others of its user and day (see event-origin.ts). */
export const withOrigin: Sql = sql`left join event_origin origin on origin.app_id = e.app_id and origin.day = e.day
  and origin.client_id = e.client_id and origin.origin_id = e.origin_id`;

/** The columns in which new events have them. */
export const PROPERTY_COLUMNS: Sql = sql`properties_text, origin_id, properties_rest`;

/** The values of these columns for an event that is stored anew beside its origin. */
export const storedProperties: Sql = sql`coalesce(e.properties_text, e.properties_json::text, e.properties_jsonb::text),
  e.origin_id, e.properties_rest`;
