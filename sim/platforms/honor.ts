import { answer, type Fields, isFields, memberOf, millisParameter, parameter, Refusal, textAt } from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";

/** Likely: activation, registration, payment, order, form, and the key action, as two public callers send them. */
const CONVERSIONS: ReadonlySet<string> = new Set(["10001", "10002", "10004", "10007", "20001", "900401"]);
const KEY_ACTION = "900401";

export function startHonor(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn("honor", { ...options, routes: [CONVERSION] });
}

/** Everything in the query, unsigned, the time in milliseconds (likely). It takes no id and no money from the caller. */
const CONVERSION: Route = {
  methods: ["GET"],
  path: "/api/ad-tracking/v1/conversion",
  dialect: {
    refusal: ({ message }) => answer({ code: 400, message }),
    busy: answer({ code: 500, message: "system busy" }),
    badToken: answer({ code: 401, message: "trackId is invalid" }),
  },
  take(call, desk) {
    const { query } = call;
    const key = parameter(query, "trackId");
    if (!desk.isKey(key)) throw new Refusal("trackId is invalid");
    const code = memberOf(CONVERSIONS, { name: "conversionId", value: parameter(query, "conversionId") });
    const atMs = millisParameter(query, "conversionTime");
    parameter(query, "advertiserId");
    if (code === KEY_ACTION) assertExtra(query.get("extra") ?? "");
    desk.accept(call, { key, code, dedupeId: "", orderId: "", cents: null, atMs, sameBy: "" });
    return answer({ code: 0, message: "success" });
  },
};

/** A key action names the app (likely). */
function assertExtra(text: string): void {
  let extra: Fields | undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) extra = value;
  } catch {
    throw new Refusal("extra is missing or not JSON");
  }
  if (extra === undefined) throw new Refusal("extra is not an object");
  textAt(extra, "pkgName");
  textAt(extra, "appName");
}
