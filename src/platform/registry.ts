import { ORGANIC } from "../domain/attribution/attribution.ts";
import type { AdIds } from "../domain/attribution/touch.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { withAdParams } from "./ad-params.ts";
import { appleCosts } from "./apple/cost.ts";
import { apple } from "./apple/link.ts";
import { baiduAuthorisation } from "./baidu/authorisation.ts";
import { baiduCosts } from "./baidu/cost.ts";
import { baidu } from "./baidu/link.ts";
import { baiduPostback } from "./baidu/postback.ts";
import { bilibili } from "./bilibili/link.ts";
import { bilibiliPostback } from "./bilibili/postback.ts";
import { bytedanceAuthorisation } from "./bytedance/authorisation.ts";
import { bytedanceCosts } from "./bytedance/cost.ts";
import { bytedance } from "./bytedance/link.ts";
import { bytedancePostback } from "./bytedance/postback.ts";
import type { AuthorisationFlow } from "./connector/authorisation.ts";
import type { PostbackConnector } from "./connector/connector.ts";
import type { CostConnector } from "./connector/cost-connector.ts";
import { douyinRevenue } from "./douyin/revenue.ts";
import { generic } from "./generic.ts";
import { honor } from "./honor/link.ts";
import { honorPostback } from "./honor/postback.ts";
import { huawei } from "./huawei/link.ts";
import { huaweiPostback } from "./huawei/postback.ts";
import { kuaishouAuthorisation } from "./kuaishou/authorisation.ts";
import { kuaishouCosts } from "./kuaishou/cost.ts";
import { kuaishou } from "./kuaishou/link.ts";
import { kuaishouPostback } from "./kuaishou/postback.ts";
import { ruleOfLaunch } from "./launch-rules.ts";
import { oppo } from "./oppo/link.ts";
import { oppoPostback } from "./oppo/postback.ts";
import { adDataOf, fieldsOf, inOwnWords, type Platform } from "./platform.ts";
import { tencentAuthorisation } from "./tencent/authorisation.ts";
import { tencentCosts } from "./tencent/cost.ts";
import { tencent } from "./tencent/link.ts";
import { tencentPostback } from "./tencent/postback.ts";
import { vivo } from "./vivo/link.ts";
import { vivoPostback } from "./vivo/postback.ts";
import { wechatRevenue } from "./wechat/revenue.ts";
import { xiaomi } from "./xiaomi/link.ts";
import { xiaomiPostback } from "./xiaomi/postback.ts";

/**
 * The content of a platform's folder: links and launch queries, and optionally postbacks and costs; and how people
 * authorise us to pull these costs.
 */
type OwnFolder = {
  link: Platform;
  postback?: PostbackConnector;
  cost?: CostConnector;
  authorisation?: AuthorisationFlow;
};

const OWN_FOLDERS: readonly OwnFolder[] = [
  { link: tencent, postback: tencentPostback, cost: tencentCosts, authorisation: tencentAuthorisation },
  { link: kuaishou, postback: kuaishouPostback, cost: kuaishouCosts, authorisation: kuaishouAuthorisation },
  { link: bytedance, postback: bytedancePostback, cost: bytedanceCosts, authorisation: bytedanceAuthorisation },
  { link: baidu, postback: baiduPostback, cost: baiduCosts, authorisation: baiduAuthorisation },
  { link: apple, cost: appleCosts },
  { link: bilibili, postback: bilibiliPostback },
  { link: vivo, postback: vivoPostback },
  { link: oppo, postback: oppoPostback },
  { link: xiaomi, postback: xiaomiPostback },
  { link: huawei, postback: huaweiPostback },
  { link: honor, postback: honorPostback },
];

const gravity = generic("gravity", ["turbo_vid"]);

/** Other known values of `click_company`. A platform that is missing here can be named in the campaign. */
const OTHER_NAMES = [
  ...["bytedance_std", "bytedance_star", "bytedance_dy_game", "tiktok", "alipay", "bing", "huawei_store"],
  ...["huya", "iqiyi", "qihu360", "sigmob", "taptap", "ubix", "uc", "weibo", "xiaohongshu", "youdao", "masterkey"],
  ...["google", "meta", "applovin", "unity", "mintegral"],
];

const OWN_LINKS = [...OWN_FOLDERS.map(({ link }) => link), gravity];

const PLATFORMS: ReadonlyMap<string, Platform> = new Map(
  [...OWN_LINKS, ...OTHER_NAMES.map((name) => generic(name))].map((platform) => [platform.name, platform]),
);

/** Platforms whose links carry a click id, for matching a click id that comes without a platform's name. */
export const PLATFORMS_WITH_LINKS: readonly Platform[] = OWN_LINKS.filter((platform) => platform.click !== undefined);

export const PLATFORM_NAMES: readonly string[] = [...PLATFORMS.keys()];

const POSTBACKS: ReadonlyMap<string, PostbackConnector> = new Map(
  OWN_FOLDERS.flatMap(({ link, postback }) => (postback ? [[link.name, postback]] : [])),
);

/** Platforms that show ads inside the app and tell what these earned. They bring no users. */
const PUBLISHERS: Readonly<Record<string, CostConnector>> = {
  wechat: wechatRevenue,
  douyin: douyinRevenue,
};

export const PUBLISHER_PLATFORMS: readonly string[] = Object.keys(PUBLISHERS);

const COSTS: ReadonlyMap<string, CostConnector> = new Map([
  ...OWN_FOLDERS.flatMap(({ link, cost }): [string, CostConnector][] => (cost ? [[link.name, cost]] : [])),
  ...Object.entries(PUBLISHERS),
]);

const AUTHORISATIONS: ReadonlyMap<string, AuthorisationFlow> = new Map(
  OWN_FOLDERS.flatMap(({ link, authorisation }) => (authorisation ? [[link.name, authorisation]] : [])),
);

/** Platforms whose accounts can be connected by authorising us on a page of theirs. */
export const AUTHORISED_PLATFORMS: readonly string[] = [...AUTHORISATIONS.keys()];

export const POSTBACK_PLATFORMS: readonly string[] = [...POSTBACKS.keys()];

export const COST_PLATFORMS: readonly string[] = [...COSTS.keys()];

/** The connector for postbacks, or undefined when the platform accepts none (as Apple) or its interface is unknown. */
export function postbackConnectorOf(platform: string): PostbackConnector | undefined {
  return POSTBACKS.get(platform);
}

/** The connector for costs, by the platform's name in reports, or undefined when costs cannot be pulled. */
export function costConnectorOf(platform: string): CostConnector | undefined {
  return COSTS.get(platform);
}

/** How people authorise us at a platform, or undefined when tokens come from elsewhere. */
export function authorisationOf(platform: string): AuthorisationFlow | undefined {
  return AUTHORISATIONS.get(platform);
}

/** Other names that older clients use for two platforms. */
const ALIASES: Readonly<Record<string, string>> = { gdt: "tencent", apple: "asa" };

export function platformNamed(name: string): Platform | undefined {
  return PLATFORMS.get(ALIASES[name] ?? name);
}

/** The allowed names of platforms that are not in the registry. */
const NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** The platform of a monitoring link, which may have any valid name; undefined when the name is invalid. */
export function platformOfLink(name: string): Platform | undefined {
  const lower = name.toLowerCase();
  return platformNamed(lower) ?? (NAME.test(lower) && lower !== ORGANIC ? generic(lower) : undefined);
}

/** A launch query that comes from an ad: its platform and scene, the ids in it, and the query with our names. */
export type LaunchQuery = { platform: Platform; scene: string; ids: AdIds; adData: JsonObject };

/** The ad that a registration's ad_data names, or undefined when it names none. */
export function readLaunchQuery(adData: JsonObject): LaunchQuery | undefined {
  const named = nestedPlatform(adData);
  const query = withAdParams(named ? adDataOf(adData, named.name) : adData);
  const rule = named ? undefined : ruleOfLaunch(fieldsOf(query));
  const platform = named ?? platformNamed(rule?.platform ?? "");
  if (!platform) return undefined;
  const own = inOwnWords(platform, query);
  return { platform, scene: rule?.scene ?? "named by the caller", ids: platform.readIds(fieldsOf(own)), adData: own };
}

/** The platform under whose name the query is nested. Launch queries are flat, so few of their values are objects. */
function nestedPlatform(adData: JsonObject): Platform | undefined {
  const named = Object.keys(adData).filter((key) => isObject(adData[key]) && PLATFORMS.has(key));
  return named.length > 1
    ? [...PLATFORMS.values()].find(({ name }) => named.includes(name))
    : PLATFORMS.get(named[0] ?? "");
}
