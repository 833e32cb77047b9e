import { timingSafeEqual } from "node:crypto";
import { md5 } from "../../domain/user/identity.ts";
import { PLAIN, type Platform } from "../platform.ts";

const SIGN = /&sign=([0-9a-fA-F]{32})$/;

export const baidu: Platform = {
  ...PLAIN,
  name: "baidu",
  readIds: (field) => ({
    advertiserId: field("advertiser_id") || field("user_id"),
    gid: field("gid") || field("plan_id"),
    aid: field("aid") || field("unit_id"),
    cid: field("cid") || field("idea_id"),
    csite: field("csite"),
  }),
  record: { name: "baidu", fields: ["bd_vid"] },
  click: [
    ["advertiser_id", "__USER_ID__"],
    ["gid", "__PLAN_ID__"],
    ["aid", "__UNIT_ID__"],
    ["cid", "__IDEA_ID__"],
    ["click_id", "__CLICK_ID__"],
    ["bd_vid", "__BD_VID__"],
    ["callback", "__CALLBACK_URL__"],
    ["ext_info", "__EXT_INFO__"],
    ["ts", "__TS__"],
    ["os", "__OS_TYPE__"],
    ["imei_md5", "__IMEI_MD5__"],
    ["idfa", "__IDFA__"],
    ["oaid", "__OAID__"],
    ["oaid_md5", "__OAID_MD5__"],
    ["android_id_md5", "__ANDROID_ID_MD5__"],
    ["caid", "__CAID__"],
    ["model", "__DEVICE_INFO__", "likely"],
    ["ip", "__IP__"],
    ["ua", "__UA__"],
    // Last, because Baidu signs everything before it.
    ["sign", "__SIGN__"],
  ],
  impression: undefined,
  adData: [
    ...PLAIN.adData,
    ["bd_vid", "bd_vid"],
    ["ext_info", "ext_info"],
    ["os", "os"],
    ["imei_md5", "imei_md5"],
    ["idfa", "idfa"],
    ["oaid", "oaid"],
    ["oaid_md5", "oaid_md5"],
    ["android_id_md5", "android_id_md5"],
  ],
  touchClickIds: (field) => [field("bd_vid"), field("click_id")],
  launchClickIds: (field) => [field("bd_vid"), field("click_id")],
  signature: { secret: "akey", isValid: isSignedByBaidu },
};

/** The sign is the md5 of the whole address as Baidu called it, without `&sign=…`, followed by the account's akey. */
export function isSignedByBaidu(url: string, akey: string): boolean {
  const given = SIGN.exec(url)?.[1]?.toLowerCase();
  if (given === undefined) return false;
  return timingSafeEqual(Buffer.from(md5(url.replace(SIGN, "") + akey)), Buffer.from(given));
}
