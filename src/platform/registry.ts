import { ORGANIC } from "../domain/attribution.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import type { AdIds } from "../domain/touch.ts";
import { withAdParams } from "./ad-params.ts";
import { apple } from "./apple.ts";
import { baidu } from "./baidu.ts";
import { bilibili } from "./bilibili.ts";
import { bytedance } from "./bytedance.ts";
import { generic } from "./generic.ts";
import { huawei } from "./huawei.ts";
import { kuaishou } from "./kuaishou.ts";
import { ruleOfLaunch } from "./launch-rules.ts";
import { oppo } from "./oppo.ts";
import { adDataOf, fieldsOf, inOwnWords, type Platform } from "./platform.ts";
import { tencent } from "./tencent.ts";
import { vivo } from "./vivo.ts";
import { xiaomi } from "./xiaomi.ts";

const gravity = generic("gravity", ["turbo_vid"]);

/** Values of `click_company` that the service is known to use; a user of another platform writes it in the campaign. */
const OTHER_NAMES = [
  ...["bytedance_std", "bytedance_star", "bytedance_dy_game", "tiktok", "alipay", "bing", "honor", "huawei_store"],
  ...["huya", "iqiyi", "qihu360", "sigmob", "taptap", "ubix", "uc", "weibo", "xiaohongshu", "youdao", "masterkey"],
  ...["google", "meta", "applovin", "unity", "mintegral"],
];

const OWN_FILES = [tencent, kuaishou, bytedance, baidu, apple, bilibili, vivo, oppo, xiaomi, huawei, gravity];

const PLATFORMS: ReadonlyMap<string, Platform> = new Map(
  [...OWN_FILES, ...OTHER_NAMES.map((name) => generic(name))].map((platform) => [platform.name, platform]),
);

/** Those whose links carry a click id, for a click id that comes without a platform's name. */
export const PLATFORMS_WITH_LINKS: readonly Platform[] = OWN_FILES.filter((platform) => platform.click !== undefined);

export const PLATFORM_NAMES: readonly string[] = [...PLATFORMS.keys()];

/** Older clients call two platforms by other names. */
const ALIASES: Readonly<Record<string, string>> = { gdt: "tencent", apple: "asa" };

export function platformNamed(name: string): Platform | undefined {
  return PLATFORMS.get(ALIASES[name] ?? name);
}

/** What a platform of our own making may be called. */
const NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** The platform of a monitoring link, which may have any name; undefined where it cannot be one. */
export function platformOfLink(name: string): Platform | undefined {
  const lower = name.toLowerCase();
  return platformNamed(lower) ?? (NAME.test(lower) && lower !== ORGANIC ? generic(lower) : undefined);
}

/** A launch query that comes from an ad: whose, in which scene, and what it names, in the platform's own words. */
export type LaunchQuery = { platform: Platform; scene: string; ids: AdIds; adData: JsonObject };

/** What a registration's ad_data says about its ad. Undefined: it comes from none. */
export function readLaunchQuery(adData: JsonObject): LaunchQuery | undefined {
  const named = nestedPlatform(adData);
  const query = withAdParams(named ? adDataOf(adData, named.name) : adData);
  const rule = named ? undefined : ruleOfLaunch(fieldsOf(query));
  const platform = named ?? platformNamed(rule?.platform ?? "");
  if (!platform) return undefined;
  const own = inOwnWords(platform, query);
  return { platform, scene: rule?.scene ?? "named by the caller", ids: platform.readIds(fieldsOf(own)), adData: own };
}

/** A launch query is flat: few of its values are objects, and only those can be named by a platform. */
function nestedPlatform(adData: JsonObject): Platform | undefined {
  const named = Object.keys(adData).filter((key) => isObject(adData[key]) && PLATFORMS.has(key));
  return named.length > 1
    ? [...PLATFORMS.values()].find(({ name }) => named.includes(name))
    : PLATFORMS.get(named[0] ?? "");
}
