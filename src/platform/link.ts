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
import { systemOf } from "../domain/user/operating-system.ts";
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
  ...["mid1", "mid2", "mid3", "mid4", "mid5", "mid6", "ctc_info", "ele_info", "os", "os_version", "model", "ua"],
  ...["ipv4", "ipv6", "ctype", "union_site", "event_type", "id_type", "tracking_enabled"],
  ...["imei", "oaid", "idfa", "idfv", "android_id", "mac", "caid", "muid"],
  ...["imei_md5", "oaid_md5", "idfa_md5", "idfv_md5", "android_id_md5", "mac_md5"],
];

/** Reads a touch. Undefined when the call names no platform, because nothing could be attributed to it. */
export function readTouch(kind: TouchKind, link: LinkQuery, receivedAtMs: number): ReadTouch | undefined {
  const raw = rememberedField(link);
  const platform = platformOfLink(raw("company"));
  if (!platform) return undefined;
  const os = osOf(raw("os"), platform);
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
    ip: addressesOf(raw)[0] ?? "",
    details: Object.fromEntries(DETAILS.flatMap((name) => (field(name) === "" ? [] : [[name, field(name)]]))),
  };
  return { touch, ...keysOf(platform, field) };
}

/**
 * Caches values, because most fields are read more than once: as an id, as a key, and as a detail. `aid_2` is `aid` for
 * another kind of link or ad, with a macro of its own.
 */
function rememberedField(link: LinkQuery): Field {
  const values = new Map<string, string>();
  return (name) => {
    const known = values.get(name);
    if (known !== undefined) return known;
    const value = link.get(name) || link.get(`${name}_2`);
    values.set(name, value);
    return value;
  };
}

function osOf(text: string, { systems }: Platform): string {
  const named = systemOf(text);
  return systems.get(text) ?? (named === "unknown" ? text.toLowerCase() : named);
}

/** The device's addresses: platforms send one of either kind, or both kinds by their own names. */
function addressesOf(field: Field): string[] {
  return ["ip", "ipv4", "ipv6"].map(field).filter((ip) => ip !== "");
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
    ...ipUaKeys(addressesOf(field), field("ua")),
  ];
  // The most reliable keys come first, so that a touch with too many loses the least reliable ones.
  return { keys: keys.slice(0, LIMITS.touchKeys - 1), addressKey: addressKey(addressesOf(field)[0] ?? "") };
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

/** A macro of a link, and what is known of it: `own` when the caller has named it. */
export type LinkMacro = { macro: string; certainty: "certain" | "likely" | "own" };

/** The macros of a link, by parameter, in the link's order. Undefined when the platform has no link of this kind. */
export function linkMacros(
  platform: Platform,
  kind: TouchKind,
  changed: LinkOptions["macros"] = {},
): ReadonlyMap<string, LinkMacro> | undefined {
  const changes = kind === "impression" ? platform.impression : [];
  if (!platform.click || !changes) return undefined;
  const macros = new Map<string, LinkMacro>();
  for (const [parameter, macro, mark] of [...platform.click, ...changes]) {
    macros.set(parameter, { macro, certainty: mark ?? "certain" });
  }
  for (const [parameter, macro] of Object.entries(changed)) macros.set(parameter, { macro, certainty: "own" });
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
    ...[...macros].map(([name, { macro }]) => `${name}=${macro}`),
  ];
  return `${options.baseUrl}/event_center/api/v1/event/${kind}/?${query.join("&")}`;
}
