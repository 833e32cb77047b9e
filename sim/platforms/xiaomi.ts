import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { answer, memberOf, millisParameter, parameter, Refusal, wholeParameter } from "./call.ts";
import { type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { randomText } from "./tokens.ts";

export type XiaomiOptions = StandInOptions & {
  appId?: string;
  customerId?: string;
  signKey?: string;
  encryptKey?: string;
};
export type XiaomiStandIn = StandIn & Required<Pick<XiaomiOptions, "appId" | "customerId" | "signKey" | "encryptKey">>;

const CONV_TYPES: ReadonlySet<string> = new Set([
  ...["APP_ACTIVE", "APP_ACTIVE_NEW", "APP_REGISTER", "APP_PAY", "APP_FIRST_PAY", "APP_RETENTION", "APP_RETENTION_3D"],
  ...["APP_RETENTION_4D", "APP_RETENTION_5D", "APP_RETENTION_6D", "APP_RETENTION_7D", "APP_ADDICTION"],
  ...["APP_COMPLETE_ORDER", "APP_PAY_AMOUNT"],
]);
/** Success is 1 here, unlike on the other platforms. */
const ACCEPTED = 1;

export async function startXiaomi(options: XiaomiOptions = {}): Promise<XiaomiStandIn> {
  const { appId = "1001", customerId = "2001", signKey = randomText(), encryptKey = randomText() } = options;
  const keys = { appId, customerId, signKey, encryptKey };
  const routes = [logRoute("/global/log", keys), logRoute("/global/test", keys)];
  return Object.assign(await startStandIn("xiaomi", { ...options, routes }), keys);
}

type Keys = { appId: string; customerId: string; signKey: string; encryptKey: string };

function logRoute(path: string, { appId, customerId, signKey, encryptKey }: Keys): Route {
  return {
    methods: ["GET"],
    path,
    dialect: {
      refusal: ({ message }) => answer({ code: -1, failMsg: message }),
      busy: answer({ code: 500, failMsg: "system busy" }),
      badToken: answer({ code: 401, failMsg: "sign is invalid" }),
    },
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
      return answer({ code: ACCEPTED, failMsg: "" });
    },
  };
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
