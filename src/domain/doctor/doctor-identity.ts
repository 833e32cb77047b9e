import { isObject, type JsonObject } from "../json.ts";
import { cleanId, isMacro } from "../user/identity.ts";
import { Evidence, type Finding, type FindingKind } from "./finding.ts";
import {
  bodyOf,
  eventsOf,
  isAccepted,
  isCollect,
  isRegistration,
  propertiesOf,
  type SeenCall,
  textOf,
} from "./seen-call.ts";

/** Rules about who the clients are, and by what their touches could be found. */

const PLACEHOLDERS: ReadonlySet<string> = new Set([
  ...["null", "undefined", "none", "nil", "unknown", "nan", "0", "-1", "[object object]", "true", "false"],
  ...["client_id", "clientid", "your_client_id", "user_id", "userid", "uid", "openid", "device_id", "string"],
]);

export function placeholderClientId(calls: readonly SeenCall[]): Finding | undefined {
  const evidence = new Evidence();
  for (const { at_ms, endpoint, client_id } of calls) {
    if (!PLACEHOLDERS.has(client_id.toLowerCase()) && !isMacro(client_id)) continue;
    evidence.add(at_ms, { endpoint, client_id }, client_id);
  }
  return evidence.finding("placeholder_client_id", "error");
}

const DEVICE_IDS = ["idfa", "oaid", "imei", "android_id"] as const;
const PEOPLE_MIN = 3;

/** One client id shared by several phones or people: the app sends a constant, or another kind of id. */
export function sharedClientId(calls: readonly SeenCall[]): Finding | undefined {
  const marks = new Map<string, Map<string, Set<string>>>();
  const shared = new Set<string>();
  const evidence = new Evidence();
  for (const call of calls) {
    for (const [by, value] of marksOf(call)) {
      const ofClient = marks.get(call.client_id) ?? new Map<string, Set<string>>();
      const values = ofClient.get(by) ?? new Set<string>();
      marks.set(call.client_id, ofClient.set(by, values.add(value)));
      if (values.size < PEOPLE_MIN) continue;
      shared.add(call.client_id);
      const example = { client_id: call.client_id, [by]: value, [`different_${by}`]: values.size };
      evidence.add(call.at_ms, example, call.client_id);
    }
  }
  return evidence.finding("shared_client_id", "error", shared.size);
}

function marksOf(call: SeenCall): [by: string, value: string][] {
  if (!isAccepted(call) || call.client_id === "") return [];
  const body = bodyOf(call);
  const device = isObject(body.device_info) ? body.device_info : isObject(body.data) ? body.data : {};
  const ofEvents = eventsOf(call).map((event): [string, string] => [
    "$device_id",
    textOf(propertiesOf(event).$device_id),
  ]);
  return [
    ["wx_openid", cleanId(body.wx_openid)] as [string, string],
    ...DEVICE_IDS.map((name): [string, string] => [name, cleanId(device[name])]),
    ...ofEvents,
  ].filter(([, value]) => value !== "");
}

/** A WeChat app id where a person's id should be. */
const WECHAT_APP_ID = /^wx[0-9a-f]{16}$/i;

export function openidIsAppId(calls: readonly SeenCall[], appId: number): Finding | undefined {
  const evidence = new Evidence();
  for (const call of calls.filter(isRegistration)) {
    const openid = textOf(bodyOf(call).wx_openid);
    if (!WECHAT_APP_ID.test(openid) && openid !== String(appId)) continue;
    evidence.add(call.at_ms, { client_id: call.client_id, wx_openid: openid }, openid);
  }
  return evidence.finding("openid_is_app_id", "error");
}

export function sharedOpenid(calls: readonly SeenCall[]): Finding | undefined {
  const clients = new Map<string, Set<string>>();
  const evidence = new Evidence();
  for (const call of calls.filter(isRegistration)) {
    const openid = cleanId(bodyOf(call).wx_openid);
    if (openid === "") continue;
    const ofOpenid = (clients.get(openid) ?? new Set<string>()).add(call.client_id);
    clients.set(openid, ofOpenid);
    if (ofOpenid.size < PEOPLE_MIN) continue;
    evidence.add(call.at_ms, { wx_openid: openid, clients: ofOpenid.size, client_id: call.client_id }, openid);
  }
  const most = Math.max(0, ...[...clients.values()].map(({ size }) => size));
  return evidence.finding("shared_openid", "error", most);
}

const ADDRESS_CLIENTS_MIN = 10;
const ADDRESS_SHARE = 0.8;

/** Nearly all clients call from one address: the app's own server, or a proxy that is not configured as one. */
export function sharedAddress(calls: readonly SeenCall[]): Finding | undefined {
  const everybody = new Set<string>();
  const clients = new Map<string, Set<string>>();
  const callers = calls.filter((call) => isAccepted(call) && (isCollect(call) || isRegistration(call)));
  for (const call of callers) {
    if (textOf(bodyOf(call).client_ip) !== "") continue;
    everybody.add(call.client_id);
    clients.set(call.ip, (clients.get(call.ip) ?? new Set<string>()).add(call.client_id));
  }
  const [ip, ofIp] = [...clients].sort(([, left], [, right]) => right.size - left.size)[0] ?? [];
  if (!ofIp || ofIp.size < ADDRESS_CLIENTS_MIN || ofIp.size < everybody.size * ADDRESS_SHARE) return undefined;
  const evidence = new Evidence();
  for (const call of callers.filter((one) => one.ip === ip)) {
    evidence.add(call.at_ms, { ip: call.ip, ua: call.ua, clients: ofIp.size, client_id: call.client_id }, call.ip);
  }
  return evidence.finding("shared_address", "error", ofIp.size);
}

/** User agents of programs, where a phone would name its system and model. */
const PROGRAM =
  /^(?:$|python|go-http|ge-|java|curl|libcurl|wget|postman|node|undici|axios|got|apache-httpclient|okhttp\/\d+\.\d+\.\d+$|php|guzzle|ruby|faraday|dart|reqwest|restsharp|\.net)/i;

export function missingUserAgent(calls: readonly SeenCall[]): Finding | undefined {
  return registrations(calls, "missing_user_agent", {
    min: PEOPLE_MIN,
    share: 0,
    isMeant: (call) => textOf(bodyOf(call).client_ua) === "" && PROGRAM.test(call.ua.trim()),
    exampleOf: ({ client_id, ua, ip }) => ({ client_id, ua, ip }),
  });
}

/** Registrations that share no kind of key with touches, so that all of them will be organic. */
export function nothingToAttributeBy(calls: readonly SeenCall[]): Finding | undefined {
  return registrations(calls, "nothing_to_attribute_by", {
    min: ADDRESS_CLIENTS_MIN,
    share: 0.9,
    isMeant: (call) => !hasKeys(bodyOf(call)),
    exampleOf: ({ client_id, endpoint }) => ({ client_id, endpoint }),
  });
}

function hasKeys({ ad_data, device_info, asa_token, wx_openid, wx_unionid, promoted_object_id }: JsonObject): boolean {
  const device = isObject(device_info) ? device_info : {};
  const ids = [...DEVICE_IDS.map((name) => device[name]), asa_token, wx_openid, wx_unionid, promoted_object_id];
  return (isObject(ad_data) && Object.keys(ad_data).length > 0) || ids.some((id) => cleanId(id) !== "");
}

type Registrations = {
  /** The minimum number of clients, and their minimum share of all that registered. */
  min: number;
  share: number;
  isMeant: (call: SeenCall) => boolean;
  exampleOf: (call: SeenCall) => JsonObject;
};

function registrations(calls: readonly SeenCall[], kind: FindingKind, rule: Registrations): Finding | undefined {
  const everybody = new Set<string>();
  const meant = new Set<string>();
  const evidence = new Evidence();
  for (const call of calls) {
    if (!isRegistration(call) || !isAccepted(call)) continue;
    everybody.add(call.client_id);
    if (!rule.isMeant(call)) continue;
    meant.add(call.client_id);
    evidence.add(call.at_ms, rule.exampleOf(call));
  }
  const isEnough = meant.size >= rule.min && meant.size >= everybody.size * rule.share;
  return isEnough ? evidence.finding(kind, "warning", meant.size) : undefined;
}
