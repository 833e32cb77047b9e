import { isObject, type JsonValue, parseJsonWithIds } from "../../domain/json.ts";
import type { ApiError, CodeName } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { LinkQuery } from "../../platform/link-query.ts";
import { fieldsOf, type Platform } from "../../platform/platform.ts";
import type { ReadCall } from "./touch-call.ts";

type Refuse = (reason: CodeName, message: string) => ApiError;

const LIST_BEGINS = /^\s*\[/;

/**
 * The calls that a call stands for: one for each item, when its body is a list of touches, else the call itself. An item
 * becomes a link call of its own, so that the journal and apply know only one form of a touch.
 */
export function callsIn(call: ReadCall, { listItem }: Platform, refuse: Refuse): ReadCall[] {
  const { body, query } = call;
  if (!listItem || !body || body.isForm || !LIST_BEGINS.test(body.bytes.toString("latin1"))) return [call];
  if (query.length + body.bytes.length > LIMITS.linkBytes) throw tooLarge(LIMITS.linkBytes, refuse);
  const calls = itemsOf(parseJsonWithIds(body.bytes), refuse).flatMap((item) => {
    const values = Object.entries(listItem(fieldsOf(item))).filter(([, value]) => value !== "");
    if (values.length === 0) return [];
    // The item comes first: what it says counts before the query.
    const text = `${new URLSearchParams(values)}&${query}`;
    return [{ ...call, bytes: Buffer.from(text, "latin1"), link: new LinkQuery(text) }];
  });
  if (calls.length === 0) throw refuse("badParameter", "The list in the body holds no touch.");
  const bytes = calls.reduce((sum, one) => sum + one.bytes.length, 0);
  if (bytes > LIMITS.linkListBytes) throw tooLarge(LIMITS.linkListBytes, refuse);
  return calls;
}

function itemsOf(list: JsonValue, refuse: Refuse) {
  if (!Array.isArray(list) || !list.every(isObject)) {
    throw refuse("badParameter", "The list in the body must hold objects only.");
  }
  if (list.length > LIMITS.linkItems) {
    throw refuse("badParameter", `The list in the body has more than ${LIMITS.linkItems} items.`);
  }
  return list;
}

function tooLarge(bytesMax: number, refuse: Refuse): ApiError {
  return refuse("bodyTooLarge", `The link call is larger than ${bytesMax} bytes.`);
}
