import { type Touch, type TouchKind, touchIdOf } from "../domain/attribution/touch.ts";
import {
  addressKey,
  clickKeys,
  type Field,
  ipUaKeys,
  type Key,
  openIdKeys,
  touchDeviceKeys,
} from "../domain/attribution/touch-key.ts";
import { cleanId } from "../domain/user/identity.ts";
import { LIMITS } from "../limits.ts";
import type { LinkQuery } from "./link-query.ts";
import type { Platform } from "./platform.ts";
import { platformOfLink } from "./registry.ts";

/** A touch read from a link call, with all keys by which it can be matched. */
export type ReadTouch = {
  touch: Touch;
  keys: Key[];
  /** The key by which a flood from one address is counted. */
  addressKey: string | undefined;
};

/** Parameters kept with the touch, for postbacks, user look-ups and explanations. */
const DETAILS = [
  ...["click_id", "impression_id", "callback", "req_id", "clue_token", "bd_vid", "ext_info", "wx_openid"],
  ...["promoted_object_id", "gid_name", "aid_name", "cid_name", "project_id", "promotion_id", "dynamic_creative_id"],
  ...["mid1", "mid2", "mid3", "mid4", "mid5", "mid6", "ctc_info", "ele_info", "os", "model", "ua"],
  ...["imei", "oaid", "idfa", "idfv", "android_id", "mac", "caid", "muid"],
  ...["imei_md5", "oaid_md5", "idfa_md5", "idfv_md5", "android_id_md5", "mac_md5"],
];

/** Some platforms write 0 for Android and 1 for iOS; others write names. */
const OS_OF_NUMBER: ReadonlyMap<string, string> = new Map([
  ["0", "android"],
  ["1", "ios"],
]);

/** Reads a touch. Undefined when the call names no platform, because nothing could be attributed to it. */
export function readTouch(kind: TouchKind, link: LinkQuery, receivedAtMs: number): ReadTouch | undefined {
  const raw = rememberedField(link);
  const platform = platformOfLink(raw("company"));
  if (!platform) return undefined;
  const os = OS_OF_NUMBER.get(raw("os")) ?? raw("os").toLowerCase();
  const field: Field = (name) => (name === "os" ? os : raw(name));
  const touch: Touch = {
    touchId: touchIdOf({ platform: platform.name, kind, identity: identityOf(kind, platform, field, link.text) }),
    kind,
    platform: platform.name,
    touchedAtMs: timeOf(raw("ts")) ?? receivedAtMs,
    receivedAtMs,
    campaignId: raw("track_id"),
    channel: raw("channel"),
    ...platform.touchIds(field),
    ip: raw("ip"),
    details: Object.fromEntries(DETAILS.flatMap((name) => (field(name) === "" ? [] : [[name, field(name)]]))),
  };
  return { touch, ...keysOf(platform, field) };
}

/** Caches values, because most fields are read more than once: as an id, as a key, and as a detail. */
function rememberedField(link: LinkQuery): Field {
  const values = new Map<string, string>();
  return (name) => {
    const known = values.get(name);
    if (known !== undefined) return known;
    const value = link.get(name);
    values.set(name, value);
    return value;
  };
}

function keysOf(
  platform: Pick<Platform, "name" | "touchClickIds">,
  field: Field,
): Pick<ReadTouch, "keys" | "addressKey"> {
  const clickIds = platform.touchClickIds(field).map(cleanId);
  const keys = [
    ...clickKeys(
      platform.name,
      clickIds.filter((id) => id !== ""),
    ),
    ...touchDeviceKeys(field),
    ...openIdKeys(cleanId(field("wx_openid"))),
    ...ipUaKeys(field("ip"), field("ua")),
  ];
  // The most reliable keys come first, so that a touch with too many loses the least reliable ones.
  return { keys: keys.slice(0, LIMITS.touchKeys - 1), addressKey: addressKey(field("ip")) };
}

/** What identifies a touch that is reported twice: the click id, or without one, the call itself. */
function identityOf(kind: TouchKind, platform: Platform, field: Field, query: string): string {
  const names = kind === "click" ? ["click_id", "bd_vid", "clue_token", "callback"] : ["impression_id"];
  for (const name of names) if (cleanId(field(name)) !== "") return `${name}\n${field(name)}`;
  const { advertiserId, gid, aid, cid } = platform.touchIds(field);
  const request = cleanId(field("req_id"));
  return request === "" ? query : [request, field("ts"), advertiserId, gid, aid, cid].join("\n");
}

const TIME_FROM_MS = Date.UTC(2000, 0, 1);
const TIME_UNTIL_MS = Date.UTC(2100, 0, 1);

/** 13 digits are milliseconds, 10 digits seconds. */
function timeOf(ts: string): number | undefined {
  const ms = /^\d{13}$/.test(ts) ? Number(ts) : /^\d{10}$/.test(ts) ? Number(ts) * 1000 : 0;
  return ms >= TIME_FROM_MS && ms < TIME_UNTIL_MS ? ms : undefined;
}

export type LinkOptions = {
  baseUrl: string;
  appId: number;
  campaignId: string;
  channel: string;
  /** Macros that replace the known ones, by parameter. */
  macros: Readonly<Record<string, string>>;
};

/** The macros of a link, by parameter, in the link's order. Undefined when the platform has no link of this kind. */
export function linkMacros(
  platform: Platform,
  kind: TouchKind,
  changed: LinkOptions["macros"] = {},
): ReadonlyMap<string, string> | undefined {
  const changes = kind === "impression" ? platform.impression : [];
  if (!platform.click || !changes) return undefined;
  const macros = new Map([...platform.click, ...changes, ...Object.entries(changed)]);
  if (kind === "impression") macros.delete("click_id");
  // Baidu signs everything before the sign, so the sign stays last.
  const sign = macros.get("sign");
  if (sign !== undefined) {
    macros.delete("sign");
    macros.set("sign", sign);
  }
  return macros;
}

/** The link to enter at the ad platform, or undefined when it has no link of this kind. */
export function linkOf(platform: Platform, kind: TouchKind, options: LinkOptions): string | undefined {
  const macros = linkMacros(platform, kind, options.macros);
  if (!macros) return undefined;
  const fixed = [
    ["app_id", String(options.appId)],
    ["company", platform.name],
    ["track_id", options.campaignId],
    ["channel", options.channel],
  ].filter(([, value]) => value !== "");
  const query = [
    ...fixed.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`),
    ...[...macros].map(([name, macro]) => `${name}=${macro}`),
  ];
  return `${options.baseUrl}/event_center/api/v1/event/${kind}/?${query.join("&")}`;
}
