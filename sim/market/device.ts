import { md5 } from "../../src/domain/user/identity.ts";
import type { Random } from "./random.ts";

/** A phone and its network. An id that the phone does not show is an empty text. */
export type Phone = {
  os: "android" | "ios";
  brand: string;
  model: string;
  version: string;
  oaid: string;
  imei: string;
  androidId: string;
  idfa: string;
  idfv: string;
  /** The plain value; the phone sends its MD5. */
  caid: string;
  ip: string;
};

const ANDROIDS = [
  ["Xiaomi", "M2102J2SC"],
  ["Xiaomi", "23013RK75C"],
  ["HUAWEI", "NOH-AN00"],
  ["HUAWEI", "ALN-AL00"],
  ["HONOR", "ANY-AN00"],
  ["OPPO", "PGJM10"],
  ["OPPO", "PHM110"],
  ["vivo", "V2254A"],
  ["vivo", "V2309A"],
  ["samsung", "SM-S9180"],
] as const;
const ANDROID_VERSIONS = ["10", "11", "12", "13", "14"];
const IOS_VERSIONS = ["16.6.1", "17.1.2", "17.4.1", "17.5", "18.0", "18.1.1"];

/** The share of phones that show each id. */
const SHOWS = { imei: 0.15, idfa: 0.4 };

export function makePhone(random: Random, os: Phone["os"], ip: string): Phone {
  const none = { oaid: "", imei: "", androidId: "", idfa: "", idfv: "", caid: "" };
  if (os === "ios") {
    const idfa = random.chance(SHOWS.idfa) ? uuid(random) : "";
    const ids = { idfa, idfv: uuid(random), caid: random.hex(32) };
    return { ...none, ...ids, os, brand: "Apple", model: "iPhone15,2", version: random.pick(IOS_VERSIONS), ip };
  }
  const [brand, model] = random.pick(ANDROIDS);
  const imei = random.chance(SHOWS.imei) ? `86${random.digits(13)}` : "";
  const ids = { oaid: random.hex(32), imei, androidId: random.hex(16) };
  return { ...none, ...ids, os, brand, model, version: random.pick(ANDROID_VERSIONS), ip };
}

export function withoutIds(phone: Phone): Phone {
  return { ...phone, oaid: "", imei: "", androidId: "", idfa: "", idfv: "", caid: "" };
}

/** Networks of large providers, which the server resolves to places. */
const PROVIDERS = [
  "36.110",
  "58.246",
  "61.140",
  "112.96",
  "113.87",
  "117.136",
  "120.229",
  "183.14",
  "222.209",
  "223.104",
];

export function homeAddress(random: Random): string {
  return `${random.pick(PROVIDERS)}.${random.whole(1, 254)}.${random.whole(1, 254)}`;
}

/** Addresses that many people share. */
export const SHARED_ADDRESSES: readonly string[] = Array.from({ length: 8 }, (_, at) => `223.104.${at + 3}.17`);

export const DATACENTRES = ["198.51.100.0/24", "203.0.113.0/24"];

export function datacentreAddress(random: Random): string {
  return `${random.pick(["198.51.100", "203.0.113"])}.${random.whole(1, 254)}`;
}

/** The user agent of the browser that shows the ad. */
export function browserAgent({ os, model, version }: Phone): string {
  return os === "ios"
    ? `Mozilla/5.0 (iPhone; CPU iPhone OS ${version.replaceAll(".", "_")} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148`
    : `Mozilla/5.0 (Linux; Android ${version}; ${model} Build/UKQ1.230804) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/116.0.0.0 Mobile Safari/537.36`;
}

/** The user agent of the app itself. */
export function appAgent({ os, model, version }: Phone): string {
  return os === "ios"
    ? `Game/1.4 (iPhone; iOS ${version}; Scale/3.00)`
    : `Dalvik/2.1.0 (Linux; U; Android ${version}; ${model} Build/UKQ1.230804)`;
}

/** The device info that the client SDKs send. */
export function deviceInfo(phone: Phone): Record<string, string> {
  if (phone.os === "ios") {
    const caid = phone.caid === "" ? "" : md5(phone.caid);
    return { os_name: "ios", idfa: phone.idfa, idfv: phone.idfv, caid1_md5: caid };
  }
  const { oaid, imei, androidId, version, brand, model } = phone;
  const ids = { oaid, imei, android_id: androidId, mac: "" };
  return { os_name: "android", ...ids, android_version: version, phone_brand: brand, phone_model: model };
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12]
    .map((length) => random.hex(length))
    .join("-")
    .toUpperCase();
}
