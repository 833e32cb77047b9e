import { createHash } from "node:crypto";
import {
  answer,
  jsonBody,
  memberOf,
  objectAt,
  optionalObject,
  optionalWhole,
  Refusal,
  secondsAt,
  textAt,
} from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";

export const QIHOO_KEY = "360-key";
export const QIHOO_SECRET = "360-secret-of-the-stand-in";

/** Registration is in several callers; the others are likely. */
const EVENTS: ReadonlySet<string> = new Set(["ACTIVATION", "REGISTERED", "PAY", "ORDER", "SUBMIT"]);

export function startQihoo360(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn("qihu360", { ...options, routes: [CONVERSION] });
}

/** Signed JSON: md5 of the secret and the body as it was sent, times in seconds, amounts in fen (five callers). */
const CONVERSION: Route = {
  methods: ["POST"],
  path: "/uploadWebConvert",
  dialect: {
    refusal: ({ message }) => answer({ errno: 1001, error: message }),
    busy: answer({ errno: 5000, error: "system busy" }),
    badToken: answer({ errno: 1002, error: "App-Sign is wrong" }),
  },
  take(call, desk) {
    if (call.headers["app-key"] !== QIHOO_KEY) throw new Refusal("App-Key is unknown");
    const sign = createHash("md5")
      .update(QIHOO_SECRET + call.body)
      .digest("hex");
    if (call.headers["app-sign"] !== sign) throw new Refusal("App-Sign is wrong");
    const data = objectAt(jsonBody(call), "data");
    secondsAt(data, "request_time");
    textAt(data, "data_industry");
    const detail = objectAt(data, "data_detail");
    const key = textAt(detail, "qhclickid");
    if (!desk.isKey(key)) throw new Refusal("qhclickid is invalid");
    const code = memberOf(EVENTS, { name: "event", value: textAt(detail, "event") });
    const atMs = secondsAt(detail, "event_time") * 1_000;
    const cents = optionalWhole(optionalObject(detail, "event_param"), "value");
    const id = textAt(detail, "trans_id");
    desk.accept(call, { key, code, dedupeId: id, orderId: "", cents, atMs, sameBy: "" });
    return answer({ errno: 0, error: "" });
  },
};
