import { answer, memberOf, millisParameter, parameter, Refusal } from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";

/** 1 is an activation for two callers; one sends 27 (likely a registration). */
const TYPES: ReadonlySet<string> = new Set(["1", "27"]);

export function startUc(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn("uc", { ...options, routes: [CALLBACK] });
}

/** The address that a click of UC brings. */
export function ucCallback(standIn: StandIn, clickId: string): string {
  return `${standIn.url}/callback/appapi?click_id=${clickId}&event_type=0&sid=1&uctrackid=czoxO2M6MQ&act_type=&uid=7`;
}

/** The delivered address with type, time and device appended (likely: three callers). */
const CALLBACK: Route = {
  methods: ["GET"],
  path: "/callback/appapi",
  dialect: {
    refusal: ({ message }) => answer({ status: 400, message }),
    busy: answer({ status: 500, message: "busy" }),
    badToken: answer({ status: 401, message: "uctrackid is invalid" }),
  },
  take(call, desk) {
    const { query } = call;
    const key = parameter(query, "click_id");
    if (!desk.isKey(key)) throw new Refusal("click_id is invalid");
    // Whatever the click brought must come back unchanged.
    if (parameter(query, "uctrackid") !== "czoxO2M6MQ" || query.get("act_type") !== "")
      throw new Refusal("the address was changed");
    const code = memberOf(TYPES, { name: "type", value: parameter(query, "type") });
    const atMs = millisParameter(query, "event_time");
    parameter(query, "oaid");
    desk.accept(call, { key, code, dedupeId: "", orderId: "", cents: null, atMs, sameBy: "" });
    return answer({ status: 0 });
  },
};
