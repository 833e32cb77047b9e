import { createHmac } from "node:crypto";
import { answer, type Call, type Fields, jsonBody, memberOf, optionalText, Refusal, textAt } from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { randomText } from "./tokens.ts";

export type HuaweiOptions = StandInOptions & { secretKey?: string };
export type HuaweiStandIn = StandIn & { secretKey: string };

const CONVERSION_TYPES: ReadonlySet<string> = new Set([
  // Certain: the list of the document, as callers copied it.
  ...["activate", "browse", "collection", "addToCart", "preOrder", "register", "retain", "paid", "custom"],
  ...["form_submit", "consult", "custom_acquisit", "book", "custom_landingpage", "qualityActivate"],
  // Likely: later names.
  ...["createRole", "login", "threeDayRetain", "sevenDayRetain", "firstPurchase", "reEngage", "subscribe"],
]);
/** Certain: hosts differ, the path does not. */
const PATH = "/action-lib-track/hiad/v2/actionupload";
const VALID_MS = 300_000;

export async function startHuawei(options: HuaweiOptions = {}): Promise<HuaweiStandIn> {
  const { secretKey = randomText() } = options;
  return Object.assign(await startStandIn("huawei", { ...options, routes: [uploadRoute(secretKey)] }), { secretKey });
}

/**
 * Every value is a text, the conversion's time in seconds, the call's in milliseconds, the price in yuan, with a digest
 * of the body (certain).
 */
function uploadRoute(secretKey: string): Route {
  return {
    methods: ["POST"],
    path: PATH,
    dialect: {
      refusal: ({ message }) => answer({ resultCode: 1, resultMessage: message }),
      busy: answer({ resultCode: 500, resultMessage: "system busy" }),
      badToken: answer({ resultCode: 401, resultMessage: "authorization is invalid" }, 401),
    },
    take(call, desk) {
      assertDigest(call, secretKey);
      const body = jsonBody(call);
      const key = textAt(body, "callback");
      if (!desk.isKey(key)) throw new Refusal("callback is invalid");
      const code = memberOf(CONVERSION_TYPES, { name: "conversion_type", value: textAt(body, "conversion_type") });
      if (!/^\d{10}$/.test(textAt(body, "conversion_time"))) throw new Refusal("conversion_time is not in seconds");
      if (!/^\d{13}$/.test(textAt(body, "timestamp"))) throw new Refusal("timestamp is not in milliseconds");
      // Likely: the id is sent even when it is empty; tracking is off, on or unknown.
      if (body.oaid === undefined) throw new Refusal("oaid is missing");
      optionalText(body, "tracking_enabled", /^[01]$/);
      for (const name of ["content_id", "campaign_id", "oaid", "ip"]) optionalText(body, name);
      const atMs = Number(body.conversion_time) * 1000;
      desk.accept(call, { key, code, dedupeId: "", orderId: "", cents: priceOf(body), atMs, sameBy: "" });
      return answer({ resultCode: 0, resultMessage: "success" });
    },
  };
}

function assertDigest({ headers, body, nowMs }: Call, secretKey: string): void {
  const [, validTime, response] =
    /^Digest validTime="(\d{13})", response="([0-9a-f]{64})"$/.exec(headers.authorization ?? "") ?? [];
  if (validTime === undefined) throw new Refusal("authorization is missing or malformed");
  if (Math.abs(Number(validTime) - nowMs) > VALID_MS) throw new Refusal("validTime is more than 300 s off");
  if (response !== createHmac("sha256", secretKey).update(body).digest("hex"))
    throw new Refusal("authorization does not verify");
}

function priceOf(body: Fields): number | null {
  const price = optionalText(body, "conversion_price", /^\d{1,12}(?:\.\d{1,2})?$/);
  return price === "" ? null : Math.round(Number(price) * 100);
}
