import { isObject, type JsonObject } from "../domain/json.ts";
import { apple } from "./apple.ts";
import { baidu } from "./baidu.ts";
import { bytedance } from "./bytedance.ts";
import { kuaishou } from "./kuaishou.ts";
import { type AdIds, adDataOf, fieldsOf, type Platform } from "./platform.ts";
import { tencent } from "./tencent.ts";

/** Any platform that has no file of its own: our own names for the ids. */
function generic(name: string, launchKeys: readonly string[] = []): Platform {
  return {
    name,
    launchKeys,
    readIds: (field) => ({
      advertiserId: field("advertiser_id") || field("account_id"),
      gid: field("gid") || field("campaign_id"),
      aid: field("aid") || field("ad_id"),
      cid: field("cid") || field("creative_id"),
      csite: field("csite"),
    }),
    record: { name, fields: ["advertiser_id", "gid", "aid", "cid", "callback", ...launchKeys] },
  };
}

const gravity = generic("gravity", ["turbo_vid"]);

/** First match wins. A shared launch query can carry keys of several; the more particular key names the platform. */
const BY_LAUNCH_QUERY: readonly Platform[] = [gravity, baidu, tencent, kuaishou, bytedance];

/** Values of `click_company` that the service is known to use; a user of another platform writes it in the campaign. */
const OTHER_NAMES = [
  ...[
    "bytedance_std",
    "bytedance_star",
    "bytedance_dy_game",
    "tiktok",
    "alipay",
    "bilibili",
    "bing",
    "honor",
    "huawei",
  ],
  ...["huawei_store", "huya", "iqiyi", "oppo", "qihu360", "sigmob", "taptap", "ubix", "uc", "vivo", "weibo"],
  ...["xiaohongshu", "xiaomi", "youdao", "masterkey", "google", "meta", "applovin", "unity", "mintegral"],
];

const PLATFORMS: ReadonlyMap<string, Platform> = new Map(
  [tencent, kuaishou, bytedance, baidu, apple, gravity, ...OTHER_NAMES.map((name) => generic(name))].map((platform) => [
    platform.name,
    platform,
  ]),
);

export const PLATFORM_NAMES: readonly string[] = [...PLATFORMS.keys()];

/** Older clients call two platforms by other names. */
const ALIASES: Readonly<Record<string, string>> = { gdt: "tencent", apple: "asa" };

export function platformNamed(name: string): Platform | undefined {
  return PLATFORMS.get(ALIASES[name] ?? name);
}

/** The platform that a registration's ad_data names, and its ids there. undefined: organic. */
export function readLaunchQuery(
  adData: JsonObject,
): { platform: Platform; ids: AdIds; adData: JsonObject } | undefined {
  const nested = [...PLATFORMS.values()].find((platform) => isObject(adData[platform.name]));
  const platform = nested ?? platformOfLaunchQuery(adData);
  if (!platform) return undefined;
  const own = adDataOf(adData, platform.name);
  return { platform, ids: platform.readIds(fieldsOf(own)), adData: own };
}

function platformOfLaunchQuery(adData: JsonObject): Platform | undefined {
  const field = fieldsOf(adData);
  const named = BY_LAUNCH_QUERY.find((platform) => platform.launchKeys.some((key) => field(key) !== ""));
  if (named) return named;
  if (field("callback") !== "") return kuaishou;
  return field("orgId") !== "" && !["", "false"].includes(field("attribution")) ? apple : undefined;
}
