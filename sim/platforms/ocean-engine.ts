import { createHash } from "node:crypto";
import type { AuthoriseOptions } from "./authorise-page.ts";
import {
  answer,
  type Call,
  type Fields,
  isFields,
  jsonBody,
  MD5_HEX,
  memberOf,
  millisAt,
  objectAt,
  optionalObject,
  optionalText,
  optionalWhole,
  optionalWholeParameter,
  parameter,
  Refusal,
  secondsParameter,
  textAt,
} from "./call.ts";
import { CostBook, type CostOptions } from "./costs.ts";
import type { WorkbenchOptions } from "./ocean-engine-authorise.ts";
import { oceanEngineCostRoutes } from "./ocean-engine-costs.ts";
import { EVENT_CODES, isEventName } from "./ocean-engine-events.ts";
import { type Dialect, type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { randomText, Tokens } from "./tokens.ts";

export type OceanEngineOptions = StandInOptions &
  CostOptions &
  AuthoriseOptions &
  WorkbenchOptions & {
    appId?: string;
    secret?: string;
    /** The id of the gateway for WeChat mini-games. */
    gatewayId?: string;
    gatewayToken?: string;
  };

export type OceanEngineStandIn = StandIn & {
  tokens: Tokens;
  appId: string;
  secret: string;
  gatewayId: string;
  gatewayToken: string;
};

const PLATFORMS: ReadonlySet<string> = new Set(["android", "ios"]);

export async function startOceanEngine(options: OceanEngineOptions = {}): Promise<OceanEngineStandIn> {
  const { clock, appId = "1700000000000001", secret = randomText() } = options;
  const { gatewayId = "7001", gatewayToken = randomText() } = options;
  const tokens = new Tokens({ clock, accessSeconds: 86_400, refreshToken: "replaced" });
  const routes = [
    conversionRoute(secret),
    ACTIVATE,
    gatewayRoute({ gatewayId, gatewayToken }),
    ...oceanEngineCostRoutes(new CostBook(options), { ...options, tokens, appId, secret }),
  ];
  const standIn = await startStandIn("bytedance", { ...options, routes });
  return Object.assign(standIn, { tokens, appId, secret, gatewayId, gatewayToken });
}

const CONVERSION_DIALECT: Dialect = {
  refusal: ({ message }) => answer({ code: 400, message }),
  busy: answer({ code: 500, message: "system busy" }),
  badToken: answer({ code: 401, message: "token is invalid" }),
};

/** Event manager: a name, its time in milliseconds and the callback (certain); money in fen (certain). */
function conversionRoute(secret: string): Route {
  return {
    methods: ["POST"],
    path: "/api/v2/conversion",
    dialect: CONVERSION_DIALECT,
    take(call, desk) {
      assertSignature(call, secret);
      const body = jsonBody(call);
      const code = textAt(body, "event_type");
      if (!isEventName(code)) throw new Refusal(`event_type ${code} is unknown`);
      const atMs = millisAt(body, "timestamp");
      const context = objectAt(body, "context");
      const ad = objectAt(context, "ad");
      const key = textAt(ad, "callback");
      if (!desk.isKey(key)) throw new Refusal("callback is invalid");
      optionalWhole(ad, "match_type", { max: 2 });
      assertDevice(optionalObject(context, "device"));
      const properties = optionalObject(body, "properties");
      const cents = optionalWhole(properties, "pay_amount");
      const orderId = optionalText(properties, "order_id");
      const dedupeId = optionalText(body, "outer_event_id");
      const same = dedupeId !== "" ? `event ${dedupeId}` : orderId !== "" ? `order ${code} ${orderId}` : "";
      desk.accept(call, { key, code, dedupeId, orderId, cents, atMs, sameBy: same });
      return answer({ code: 0, message: "success" });
    },
  };
}

/** Checks the signature only if one is sent: the plain route needs none. */
function assertSignature({ headers, body }: Call, secret: string): void {
  const signature = headers["x-signature"];
  if (signature === undefined) return;
  if (signature !== createHash("sha256").update(body).update(secret).digest("hex"))
    throw new Refusal("x-signature does not verify");
}

function assertDevice(device: Fields): void {
  const platform = optionalText(device, "platform");
  if (platform !== "") memberOf(PLATFORMS, { name: "platform", value: platform });
  optionalText(device, "imei", MD5_HEX);
  optionalText(device, "android_id_md5", MD5_HEX);
  optionalText(device, "idfa", /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/);
  optionalText(device, "oaid");
  optionalText(device, "android_id");
  optionalText(device, "idfv");
}

/** The older interface: everything in the query, times in seconds, money in fen (certain). */
const ACTIVATE: Route = {
  methods: ["GET", "POST"],
  path: "/track/activate/",
  dialect: {
    refusal: ({ message }) => answer({ code: 1, ret: 1, msg: message }),
    busy: answer({ code: 500, ret: 500, msg: "system busy" }),
    badToken: answer({ code: 401, ret: 401, msg: "callback is invalid" }),
  },
  take(call, desk) {
    const { query } = call;
    const key = parameter(query, "callback");
    if (!desk.isKey(key)) throw new Refusal("callback is invalid");
    const code = memberOf(EVENT_CODES, { name: "event_type", value: parameter(query, "event_type") });
    const atMs = secondsParameter(query, "conv_time") * 1000;
    // Android, iOS, HarmonyOS or another (likely).
    optionalWholeParameter(query, "os", { max: 3 });
    optionalWholeParameter(query, "match_type", { max: 2 });
    const props = propsOf(query);
    const orderId = optionalText(props, "order_id");
    const cents = optionalWhole(props, "pay_amount");
    // Likely: without the caller's id the same event counts as often as it is sent.
    const dedupeId = query.get("outer_event_id") ?? "";
    desk.accept(call, { key, code, dedupeId, orderId, cents, atMs, sameBy: dedupeId });
    return answer({ code: 0, ret: 0, msg: "success" });
  },
};

function propsOf(query: URLSearchParams): Fields {
  const text = query.get("props");
  if (text === null || text === "") return {};
  try {
    const props: unknown = JSON.parse(text);
    if (isFields(props)) return props;
  } catch {
    throw new Refusal("props is not JSON");
  }
  throw new Refusal("props is not an object");
}

/**
 * WeChat mini-games: signed with SHA-1 over the sorted values (certain), and the event's code is a text (likely: one
 * caller sends a number). It carries no time, so the time of the call counts. The answer's success value is unseen.
 */
function gatewayRoute({ gatewayId, gatewayToken }: { gatewayId: string; gatewayToken: string }): Route {
  return {
    methods: ["POST"],
    path: `/outer/wechat/applet/token/${gatewayId}`,
    dialect: {
      refusal: ({ message }) => answer({ data: null, message, status: 1 }),
      busy: answer({ data: null, message: "system busy", status: 500 }),
      badToken: answer({ data: null, message: "signature is invalid", status: 401 }),
    },
    take(call, desk) {
      const { query } = call;
      secondsParameter(query, "timestamp");
      const parts = [gatewayToken, parameter(query, "timestamp"), parameter(query, "nonce")];
      if (parameter(query, "signature") !== createHash("sha1").update(parts.sort().join("")).digest("hex"))
        throw new Refusal("signature does not verify");
      const body = jsonBody(call);
      const key = textAt(body, "clue_token");
      if (!desk.isKey(key)) throw new Refusal("clue_token is invalid");
      textAt(body, "open_id");
      optionalText(body, "union_id");
      const code = memberOf(EVENT_CODES, { name: "event_type", value: textAt(body, "event_type") });
      const cents = optionalWhole(optionalObject(body, "props"), "pay_amount");
      desk.accept(call, { key, code, dedupeId: "", orderId: "", cents, atMs: call.nowMs, sameBy: "" });
      return answer({ data: null, message: "success", status: 0 });
    },
  };
}
