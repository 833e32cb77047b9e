import { compile } from "../src/db/engine/sql.ts";
import { eventProperties, withOrigin } from "../src/db/event-properties.ts";

/** The stored events as the simulations read them, under the name e, and the properties of each as JSON. */
export const STORED_EVENTS = `event e ${compile(withOrigin).text}`;
export const PROPERTIES = `(${compile(eventProperties).text})`;
