import { isIPv6 } from "node:net";
import type { TouchMethod } from "./attribution.ts";
import type { Device } from "./device.ts";
import { cleanId, md5 } from "./identity.ts";
import { parseUserAgent } from "./user-agent.ts";

/**
 * What a touch and a registration can have in common. Both sides make their keys here, from ids brought to one form
 * (md5 in lower hex, of the spelling that the ad platforms hash), so that equal means equal value.
 */
export type Key = {
  method: TouchMethod;
  /** Which id: "oaid", "idfa" … */
  by: string;
  /** 32 hex digits. */
  value: string;
};

/** Reads one field of a touch or registration; the empty text where there is none. */
export type Field = (name: string) => string;

const HASH = /^[0-9a-f]{32}$/;

function key(method: TouchMethod, by: string, text: string): Key {
  return { method, by, value: md5(`${by}\n${text}`) };
}

export function clickKeys(platform: string, values: readonly string[]): Key[] {
  return unique(values.map((value) => key("click_key", "click_key", `${platform}\n${value}`)));
}

export function openIdKeys(openId: string): Key[] {
  return openId === "" ? [] : [key("open_id", "wx_openid", openId)];
}

/** Address and device; none unless both are known. */
export function ipUaKeys(ip: string, ua: string): Key[] {
  const agent = ip === "" ? undefined : parseUserAgent(ua);
  return agent ? [key("ip_ua", "ip_ua", `${plainIp(ip)}\n${agent.os}\n${agent.version}\n${agent.model}`)] : [];
}

/** Finds no user; counts how many touches one address makes. */
export function addressKey(ip: string): string | undefined {
  return ip === "" ? undefined : key("ip_ua", "address", plainIp(ip)).value;
}

/** One address has several spellings in version 6; the URL parser knows the short one. */
function plainIp(ip: string): string {
  return isIPv6(ip) ? new URL(`http://[${ip.split("%")[0]}]`).hostname : ip;
}

/** How each kind of id is spelled before it is hashed. Several spellings: platforms differ. */
const SPELLINGS: Readonly<Record<string, (id: string) => readonly string[]>> = {
  imei: (id) => [id.toLowerCase(), id],
  oaid: (id) => [id],
  idfa: (id) => [id.toUpperCase()],
  idfv: (id) => [id.toUpperCase()],
  android_id: (id) => [id.toLowerCase()],
  mac: (id) => [id.toUpperCase(), id.toUpperCase().replaceAll(/[:-]/g, "")],
};

/** The versions under which the two fields of the device info carry a caid. */
const CAID_VERSIONS: Readonly<Record<string, string>> = { caid1_md5: "20220111", caid2_md5: "20211207" };

/** Every spelling of every id that the device has: the touch has hashed one of them. */
export function deviceKeys(device: Device): Key[] {
  const keys: Key[] = [];
  for (const [by, spell] of Object.entries(SPELLINGS)) {
    const id = device[by as keyof Device];
    if (typeof id === "string" && id !== "") {
      for (const spelling of spell(id)) keys.push(key("device_id", by, md5(spelling)));
    }
  }
  for (const [field, version] of Object.entries(CAID_VERSIONS)) {
    const hash = device[field as keyof Device] as string;
    if (hash !== "") keys.push(key("device_id", "caid", `${version}\n${hash.toLowerCase()}`));
  }
  return unique(keys);
}

/** Whether an id is raw or hashed is told by its name: a raw oaid can look like a hash. */
export function touchDeviceKeys(field: Field): Key[] {
  const keys: Key[] = [];
  for (const [by, spell] of Object.entries(SPELLINGS)) {
    const raw = cleanId(field(by));
    if (raw !== "") keys.push(key("device_id", by, md5(spell(raw)[0]!)));
    const hash = cleanId(field(`${by}_md5`)).toLowerCase();
    if (HASH.test(hash)) keys.push(key("device_id", by, hash));
  }
  const muid = cleanId(field("muid")).toLowerCase();
  if (HASH.test(muid)) {
    const os = field("os").toLowerCase();
    if (os !== "ios") keys.push(key("device_id", "imei", muid));
    if (os !== "android") keys.push(key("device_id", "idfa", muid));
  }
  for (const { version, hash } of caidsOf(field("caid"))) keys.push(key("device_id", "caid", `${version}\n${hash}`));
  return unique(keys);
}

/** `[{"caid":…,"version":…}]`, `[{"caid_md5":…,"version":…}]`, or `version_value,version_value`. */
function caidsOf(text: string): { version: string; hash: string }[] {
  if (cleanId(text) === "") return [];
  if (!text.startsWith("[")) {
    return text.split(",").flatMap((part) => {
      const cut = part.indexOf("_");
      const value = cleanId(part.slice(cut + 1));
      return cut > 0 && value !== "" ? [{ version: part.slice(0, cut).trim(), hash: md5(value) }] : [];
    });
  }
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return [];
  }
  return (list as unknown[]).flatMap((item) => {
    const { caid, caid_md5, version } = (item ?? {}) as Record<string, unknown>;
    const hash = cleanId(caid_md5).toLowerCase() || (cleanId(caid) === "" ? "" : md5(cleanId(caid)));
    return HASH.test(hash) && (typeof version === "string" || typeof version === "number")
      ? [{ version: String(version), hash }]
      : [];
  });
}

function unique(keys: Key[]): Key[] {
  return [...new Map(keys.map((one) => [one.value, one])).values()];
}
