import type { JsonObject, JsonValue } from "../domain/json.ts";

const DETAIL_LENGTH_MAX = 4_096;

/** Names of fields whose values never reach the audit log. */
const SECRET = /secret|password|token|key|sign/i;

/** What the audit log keeps of a body: no secrets, no `hidden` fields, and only the beginning of long texts. */
export function auditDetails(body: object, hidden: readonly string[] = []): JsonObject {
  const given = Object.entries(body).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    given.map(([name, value]) => [name, SECRET.test(name) || hidden.includes(name) ? "…" : shortened(value)]),
  );
}

function shortened(value: JsonValue): JsonValue {
  const text = JSON.stringify(value);
  return text.length > DETAIL_LENGTH_MAX ? `${text.slice(0, DETAIL_LENGTH_MAX)} …` : value;
}

/** The app that a body names, if the audit log's column can hold its id. */
export function auditedApp(body: object): number | null {
  const { app_id: appId } = body as { app_id?: unknown };
  return Number.isInteger(appId) && Math.abs(appId as number) < 2 ** 31 ? (appId as number) : null;
}
