import { isObject, type JsonObject, type JsonValue, parseJsonWithIds } from "../domain/json.ts";
import { cleanValue } from "../domain/user/identity.ts";
import { LIMITS } from "../limits.ts";

/** Keys that hold more of a Douyin launch query, as an object or as JSON text, which may be percent-encoded. */
const CONTAINERS = ["ad_params", "log_extra"];

/** Keys of the launch query that these repeat. Not `aid` and `callback`, which mean something else there. */
const REPEATED = [
  ...["clickid", "projectid", "promotionid", "requestid", "adid", "creativeid", "advertiserid"],
  ...["project_id", "promotion_id", "request_id", "req_id", "ad_id", "creative_id", "advertiser_id", "cid"],
  ...["mid1", "mid2", "mid3", "mid4", "mid5", "mid6", "csite"],
];

/**
 * A launch query, completed with the values that its `ad_params` repeats. The outermost value counts: `log_extra` has a
 * click id of its own, which differs from the query's. Unreadable values are ignored.
 */
export function withAdParams(query: JsonObject, depth: number = LIMITS.adParamsDepth): JsonObject {
  if (depth === 0 || !CONTAINERS.some((name) => name in query)) return query;
  const whole = { ...query };
  for (const name of CONTAINERS) {
    const content = withAdParams(contentOf(query[name]) ?? {}, depth - 1);
    for (const key of REPEATED) {
      if (cleanValue(whole[key]) === "" && cleanValue(content[key]) !== "") whole[key] = cleanValue(content[key]);
    }
  }
  return whole;
}

function contentOf(value: JsonValue | undefined): JsonObject | undefined {
  if (isObject(value)) return value;
  if (typeof value !== "string" || Buffer.byteLength(value) > LIMITS.adParamsBytes) return undefined;
  let text = value;
  for (let decodings = 0; decodings <= LIMITS.adParamsDecodings; decodings += 1) {
    const content = attempt(() => parseJsonWithIds(Buffer.from(text)));
    if (isObject(content)) return content;
    text = attempt(() => decodeURIComponent(text)) ?? "";
  }
  return undefined;
}

/** Treats an unreadable value as absent: it comes from the ad, and must never make a registration fail. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
