import { isObject } from "../../domain/json.ts";
import type { PostbackEventType } from "../../domain/postback/postback.ts";
import type { AccountField, Conversion } from "./connector.ts";
import { type Skip, skip } from "./prepared.ts";

/** A platform's code for each event type; null when it has none. */
export type Codes = Readonly<Record<PostbackEventType, string | null>>;

/** The choice of code is not documented by the platforms, so each one can be changed per account. */
export const CODES_FIELD: AccountField = {
  name: "codes",
  hint: 'Other codes for single event types, as JSON: {"key_active":"CUSTOM"}. An empty text means no code.',
  fallback: "",
};

export type Code = { kind: "code"; code: string } | Skip;

/** The rule's own code, else the account's, else the one in the table. `own` is the text of the account's field. */
export function codeOf({ eventType, code: named }: Conversion, codes: Codes, own: string): Code {
  if (named !== "") return { kind: "code", code: named };
  const changes = own === "" ? new Map<string, string>() : changesIn(own);
  if (!changes) return skip("The account's `codes` must be a JSON object of texts.");
  const code = changes.get(eventType) ?? codes[eventType] ?? "";
  return code === "" ? skip(`The platform has no code for ${eventType}.`) : { kind: "code", code };
}

function changesIn(own: string): Map<string, string> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(own);
  } catch {
    return undefined;
  }
  if (!isObject(parsed)) return undefined;
  const entries = Object.entries(parsed);
  if (entries.some(([, code]) => !["string", "number"].includes(typeof code))) return undefined;
  return new Map(entries.map(([eventType, code]) => [eventType, String(code)]));
}
