import { isIP } from "node:net";
import { answer, memberOf, millisParameter, optionalWholeParameter, parameter, Refusal } from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";

/** Certain: the document's list; likely: the last one. */
const CONV_TYPES: ReadonlySet<string> = new Set([
  ...["APP_DOWNLOAD", "APP_INSTALL", "APP_FIRST_ACTIVE", "APP_ACTIVE", "FORM_SUBMIT", "USER_REGISTER", "ADD_TO_CART"],
  ...["ORDER_PLACE", "USER_COST", "USER_RESERVE", "RETENTION", "APP_CALLUP", "FORM_USER_COST", "ACCOUNT_SUBSCRIBE"],
  "CLUE_VALID",
]);
const TRACK_ID_LENGTH_MAX = 500;

export function startBilibili(options: StandInOptions = {}): Promise<StandIn> {
  return startStandIn("bilibili", { ...options, routes: [CALLBACK] });
}

/** Takes no id from the caller: a repeat is counted twice (certain). The unit of money is unseen; the tests use fen. */
const CALLBACK: Route = {
  methods: ["GET"],
  path: "/conv/api/conversion/ad/cb/v1",
  dialect: {
    refusal: ({ message }) => answer({ code: 400, message, data: "" }),
    busy: answer({ code: 500, message: "busy", data: "" }),
    badToken: answer({ code: 401, message: "track_id is invalid", data: "" }),
  },
  take(call, desk) {
    const { query } = call;
    const key = parameter(query, "track_id");
    if (key.length > TRACK_ID_LENGTH_MAX || !desk.isKey(key)) throw new Refusal("track_id is invalid");
    const code = memberOf(CONV_TYPES, { name: "conv_type", value: parameter(query, "conv_type") });
    const atMs = millisParameter(query, "conv_time");
    // Likely: the document's answers call it mandatory, its table does not name it.
    if (isIP(parameter(query, "client_ip")) === 0) throw new Refusal("client_ip is not an address");
    const cents = optionalWholeParameter(query, "conv_value");
    desk.accept(call, { key, code, dedupeId: "", orderId: "", cents, atMs, sameBy: "" });
    return answer({ code: 0, message: "", data: "" });
  },
};
