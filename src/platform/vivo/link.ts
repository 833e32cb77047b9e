import type { Field } from "../../domain/attribution/touch-key.ts";
import { likely, PLAIN, type Platform } from "../platform.ts";

/** No `ip`: vivo sends a hash of the address, which cannot be compared. */
export const vivo: Platform = {
  ...PLAIN,
  name: "vivo",
  record: { name: "vivo", fields: ["request_id", "creative_id"] },
  click: likely([
    ["click_id", "__CLICKID__"],
    ["req_id", "__REQUESTID__"],
    ["cid", "__CREATIVEID__"],
    ["aid", "__ADID__"],
    ["advertiser_id", "__ADVERTISERID__"],
    ["ts", "__TS__"],
    ["os", "__OS__"],
    ["imei_md5", "__IMEI__"],
    ["oaid_md5", "__OAID__"],
    ["ua", "__UA__"],
  ]),
  listItem,
  adData: [
    ["advertiser_id", "advertiser_id"],
    ["ad_id", "aid"],
    ["creative_id", "cid"],
    ["request_id", "req_id"],
    ["click_id", "click_id"],
    ["imei_md5", "imei_md5"],
    ["oaid_md5", "oaid_md5"],
  ],
  touchClickIds: (field) => [field("req_id"), field("click_id")],
  launchClickIds: (field) => [field("requestId"), field("request_id"), field("click_id")],
};

/**
 * The names are those of a public receiver (likely). Only what the link has too is read, so that a click that is told
 * both ways is one touch. Whether ids come hashed is unseen: a raw IMEI is shorter, and a raw OAID longer than a hash.
 */
function listItem(field: Field): Record<string, string> {
  const hashed = (name: string) => (/^[0-9a-f]{32}$/i.test(field(name)) ? `${name}_md5` : name);
  return {
    click_id: field("clickId"),
    req_id: field("requestId"),
    cid: field("creativeId"),
    aid: field("adId"),
    advertiser_id: field("advertiserId"),
    ts: field("clickTime"),
    [hashed("imei")]: field("imei"),
    [hashed("oaid")]: field("oaid"),
    ua: field("ua"),
  };
}
