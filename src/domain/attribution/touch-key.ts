import { isIP } from "node:net";
import { LIMITS } from "../../limits.ts";
import { countedAddress } from "../network.ts";
import type { Device } from "../user/device.ts";
import { cleanId, md5 } from "../user/identity.ts";
import { parseUserAgent } from "../user/user-agent.ts";
import type { TouchMethod } from "./method.ts";

/**
 * A value that a touch and a registration can share. Both sides make their keys here, from ids in one form (md5 in
 * lower-case hexadecimal of the spelling that ad platforms hash), so that equal ids give equal keys.
 */
export type Key = {
  method: TouchMethod;
  /** The kind of id: "oaid", "idfa" … */
  by: string;
  /** 32 hex digits. */
  value: string;
};

/** Reads one field of a touch or registration; empty when there is none. */
export type Field = (name: string) => string;

const HASH = /^[0-9a-f]{32}$/;

/** Hashes of placeholders for a missing id. Some platforms send them, and all those devices would count as one. */
const NO_ID_HASHES: ReadonlySet<string> = new Set(
  [
    ...["", "0", "null", "NULL", "undefined", "unknown", "000000000000000", "0000000000000000"],
    ...["00000000-0000-0000-0000-000000000000", "00000000000000000000000000000000", "9774d56d682e549c"],
    ...["02:00:00:00:00:00", "020000000000", "00:00:00:00:00:00", "000000000000"],
  ].map(md5),
);

/** The md5 that a platform sent instead of an id, or undefined when it is not one or hashes a placeholder. */
export function hashOf(value: unknown): string | undefined {
  const hash = cleanId(value).toLowerCase();
  return HASH.test(hash) && !NO_ID_HASHES.has(hash) ? hash : undefined;
}

function key(method: TouchMethod, by: string, text: string): Key {
  return { method, by, value: md5(`${by}\n${text}`) };
}

export function clickKeys(platform: string, values: readonly string[]): Key[] {
  return unique(
    values.filter((value) => value !== "").map((value) => key("click_key", "click_key", `${platform}\n${value}`)),
  );
}

export function openIdKeys(openId: string): Key[] {
  return openId === "" ? [] : [key("open_id", "wx_openid", openId)];
}

/**
 * The keys of address and phone; none unless both are known. A touch may carry the phone's IPv4 and IPv6 address, and
 * the app registers from one of them. Of an IPv6 address its /64 counts: a phone or a household has one, as it has one
 * IPv4 address, and changes the rest of the address within hours.
 */
export function ipUaKeys(ips: readonly string[], ua: string): Key[] {
  const known = ips.filter((ip) => ip !== "" && !NO_ADDRESSES.has(ip));
  const agent = known.length === 0 ? undefined : parseUserAgent(ua);
  if (!agent) return [];
  const phone = `${agent.os}\n${agent.version}\n${agent.model}`;
  return unique(known.map((ip) => key("ip_ua", "ip_ua", `${countedAddress(ip)}\n${phone}`)));
}

/** The key that counts the touches of one address. It never finds a user. */
export function addressKey(ip: string): string | undefined {
  return isIP(ip) === 0 || NO_ADDRESSES.has(ip) ? undefined : key("ip_ua", "address", countedAddress(ip)).value;
}

const NO_ADDRESSES: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** How each kind of id is spelled before it is hashed. Platforms differ, so there can be several spellings. */
const SPELLINGS: Readonly<Record<string, (id: string) => readonly string[]>> = {
  imei: (id) => [id.toLowerCase(), id],
  oaid: (id) => [id],
  idfa: (id) => [id.toUpperCase()],
  idfv: (id) => [id.toUpperCase()],
  android_id: (id) => [id.toLowerCase()],
  mac: (id) => {
    const bare = id.toUpperCase().replaceAll(/[:-]/g, "");
    return [bare.replaceAll(/..(?=.)/g, "$&:"), bare];
  },
};

/** The caid versions of the two fields in the device info. */
const CAID_VERSIONS: Readonly<Record<string, string>> = { caid1_md5: "20220111", caid2_md5: "20211207" };

/** Keys of every spelling of every id of the device, because the touch holds the hash of one of them. */
export function deviceKeys(device: Device): Key[] {
  const keys: Key[] = [];
  for (const [by, spell] of Object.entries(SPELLINGS)) {
    const id = device[by as keyof Device];
    if (typeof id === "string" && id !== "") {
      for (const spelling of new Set(spell(id))) keys.push(key("device_id", by, md5(spelling)));
    }
  }
  for (const [field, version] of Object.entries(CAID_VERSIONS)) {
    const hash = device[field as keyof Device] as string;
    if (hash !== "") keys.push(key("device_id", "caid", `${version}\n${hash.toLowerCase()}`));
  }
  return unique(keys);
}

/** The device keys of a touch. The name says whether an id is raw or hashed: a raw oaid can look like a hash. */
export function touchDeviceKeys(field: Field): Key[] {
  const keys: Key[] = [];
  for (const [by, spell] of Object.entries(SPELLINGS)) {
    const raw = cleanId(field(by));
    if (raw !== "") keys.push(key("device_id", by, md5(spell(raw)[0]!)));
    const hash = hashOf(field(`${by}_md5`));
    if (hash) keys.push(key("device_id", by, hash));
  }
  const muid = hashOf(field("muid"));
  if (muid) {
    const os = field("os").toLowerCase();
    if (os !== "ios") keys.push(key("device_id", "imei", muid));
    if (os !== "android") keys.push(key("device_id", "idfa", muid));
  }
  // A device has two or three caids; a list of thousands would make a row of each.
  const caids = unique(
    caidsOf(field("caid")).map(({ version, hash }) => key("device_id", "caid", `${version}\n${hash}`)),
  );
  return unique([...keys, ...caids.slice(0, LIMITS.touchIdsPerKind)]);
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
    const { caid } = (item ?? {}) as Record<string, unknown>;
    // Baidu nests the caids of each vendor in a list.
    return (Array.isArray(caid) ? (caid as unknown[]) : [item]).flatMap(caidOf);
  });
}

/** Tencent writes the hash beside the value; Kuaishou calls the two kenyId and kenyId_MD5. */
function caidOf(item: unknown): { version: string; hash: string }[] {
  const { caid, kenyId, caid_md5, hash_caid, kenyId_MD5, version } = (item ?? {}) as Record<string, unknown>;
  const raw = cleanId(caid) || cleanId(kenyId);
  const given = hashOf(caid_md5) ?? hashOf(hash_caid) ?? hashOf(kenyId_MD5);
  const hash = given ?? (raw === "" ? undefined : md5(raw));
  return hash && (typeof version === "string" || typeof version === "number")
    ? [{ version: String(version), hash }]
    : [];
}

function unique(keys: Key[]): Key[] {
  return [...new Map(keys.map((one) => [one.value, one])).values()];
}
