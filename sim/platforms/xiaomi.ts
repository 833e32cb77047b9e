import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { answer, type Call, memberOf, millisParameter, parameter, Refusal, wholeParameter } from "./call.ts";
import { type Dialect, type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { randomText } from "./tokens.ts";

export type XiaomiOptions = StandInOptions & {
  appId?: string;
  customerId?: string;
  signKey?: string;
  encryptKey?: string;
  /** Signs the answers to clicks that brought a callback. */
  callbackKey?: string;
};
type Keys = Required<Pick<XiaomiOptions, "appId" | "customerId" | "signKey" | "encryptKey" | "callbackKey">>;
export type XiaomiStandIn = StandIn & Keys;

const CONV_TYPES: ReadonlySet<string> = new Set([
  ...["APP_ACTIVE", "APP_ACTIVE_NEW", "APP_REGISTER", "APP_PAY", "APP_FIRST_PAY", "APP_RETENTION", "APP_RETENTION_3D"],
  ...["APP_RETENTION_4D", "APP_RETENTION_5D", "APP_RETENTION_6D", "APP_RETENTION_7D", "APP_ADDICTION"],
  ...["APP_COMPLETE_ORDER", "APP_PAY_AMOUNT"],
]);
/** Likely: success is 1 where the advertiser's own ids are sent, and 0 where a click's callback is. */
const ACCEPTED = { log: 1, callback: 0 };

const DIALECT: Dialect = {
  refusal: ({ message }) => answer({ code: -1, failMsg: message }),
  busy: answer({ code: 500, failMsg: "system busy" }),
  badToken: answer({ code: 401, failMsg: "sign is invalid" }),
};

export async function startXiaomi(options: XiaomiOptions = {}): Promise<XiaomiStandIn> {
  const { appId = "1001", customerId = "2001", signKey = randomText(), encryptKey = randomText() } = options;
  const { callbackKey = randomText() } = options;
  const keys = { appId, customerId, signKey, encryptKey, callbackKey };
  const routes = [logRoute("/global/log", keys), logRoute("/global/test", keys), callbackRoute(callbackKey)];
  return Object.assign(await startStandIn("xiaomi", { ...options, routes }), keys);
}

/** The device's id and the time, signed and then encrypted (certain). */
function logRoute(path: string, { appId, customerId, signKey, encryptKey }: Keys): Route {
  return {
    methods: ["GET"],
    path,
    dialect: DIALECT,
    take(call, desk) {
      const { query } = call;
      if (parameter(query, "appId") !== appId) throw new Refusal("appId is unknown");
      if (parameter(query, "customer_id") !== customerId) throw new Refusal("customer_id is unknown");
      const code = memberOf(CONV_TYPES, { name: "conv_type", value: parameter(query, "conv_type") });
      const told = decode(parameter(query, "info"), { signKey, encryptKey });
      const key = parameter(told, "oaid");
      if (!desk.isKey(key)) throw new Refusal("oaid is unknown");
      const atMs = millisParameter(told, "conv_time");
      if (isIP(parameter(told, "client_ip")) === 0) throw new Refusal("client_ip is not an address");
      if (code === "APP_ADDICTION")
        for (const name of ["key_action_target", "key_action_reach"]) if (!query.has(name)) wholeParameter(told, name);
      desk.accept(call, { key, code, dedupeId: "", orderId: "", cents: null, atMs, sameBy: "" });
      return answer({ code: ACCEPTED.log, failMsg: "" });
    },
  };
}

/** A click that brought a callback is answered with it, and with the device's id (likely). */
function callbackRoute(callbackKey: string): Route {
  return {
    methods: ["GET"],
    path: "/api/callback",
    dialect: DIALECT,
    take(call, desk) {
      assertSign(call, callbackKey);
      const { query } = call;
      const key = parameter(query, "callback");
      if (!desk.isKey(key)) throw new Refusal("callback is invalid");
      if (!query.get("oaid") && !query.get("imei")) throw new Refusal("neither oaid nor imei");
      const code = memberOf(CONV_TYPES, { name: "convType", value: parameter(query, "convType") });
      const atMs = millisParameter(query, "conv_time");
      desk.accept(call, { key, code, dedupeId: "", orderId: "", cents: null, atMs, sameBy: "" });
      return answer({ code: ACCEPTED.callback, failMsg: "" });
    },
  };
}

/**
 * Certain, by a caller's recorded sign: over callback, device and time in this order, without the event. Likely: the
 * sign comes last. Callers differ in whether the values are still percent-encoded.
 */
function assertSign({ target }: Call, callbackKey: string): void {
  const signed = /\?(.+)&sign=([0-9a-f]{32})$/.exec(target);
  if (signed === null) throw new Refusal("sign is missing or not last");
  const [, text = "", sign] = signed;
  const pairs = text.split("&");
  const told = ["callback", "oaid", "imei", "conv_time"].flatMap((name) =>
    pairs.filter((one) => one.startsWith(`${name}=`)),
  );
  const isSign = (of: string) => sign === createHash("md5").update(of).update(callbackKey).digest("hex");
  if (!isSign(told.join("&")) && !isSign(decodeURIComponent(told.join("&")))) throw new Refusal("sign does not verify");
}

function decode(text: string, { signKey, encryptKey }: { signKey: string; encryptKey: string }): URLSearchParams {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw new Refusal("info is not base64");
  const key = Buffer.from(encryptKey);
  const bytes = Buffer.from(text, "base64");
  for (let at = 0; at < bytes.length; at += 1) bytes[at]! ^= key[at % key.length]!;
  const signed = /^(.+)&sign=([0-9a-f]{32})$/.exec(bytes.toString("utf8"));
  if (signed === null) throw new Refusal("info does not decode to a text with a sign");
  const sign = createHash("md5")
    .update(`${signKey}&${encodeURIComponent(signed[1]!)}`)
    .digest("hex");
  if (signed[2] !== sign) throw new Refusal("sign does not verify");
  return new URLSearchParams(signed[1]!);
}
