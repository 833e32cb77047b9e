import { likely, PLAIN, type Platform } from "./platform.ts";

/** A platform without a file of its own: our names for all parameters, and macros as commonly written. */
export function generic(name: string, clickKeys: readonly string[] = []): Platform {
  return {
    ...PLAIN,
    name,
    record: { name, fields: ["advertiser_id", "gid", "aid", "cid", "callback", ...clickKeys] },
    click: likely([
      ["advertiser_id", "__ADVERTISER_ID__"],
      ["gid", "__CAMPAIGN_ID__"],
      ["aid", "__AD_ID__"],
      ["cid", "__CREATIVE_ID__"],
      ["csite", "__CSITE__"],
      ["click_id", "__CLICK_ID__"],
      ["callback", "__CALLBACK__"],
      ["ts", "__TS__"],
      ["os", "__OS__"],
      ["imei_md5", "__IMEI_MD5__"],
      ["oaid", "__OAID__"],
      ["idfa", "__IDFA__"],
      ["android_id_md5", "__ANDROID_ID_MD5__"],
      ["ip", "__IP__"],
      ["ua", "__UA__"],
    ]),
    launchClickIds: (field) => [...clickKeys.map(field), field("click_id"), field("callback")],
  };
}
