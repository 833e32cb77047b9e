import type { Field } from "../domain/attribution/touch-key.ts";

/** One way in which an ad opens a game or an app, recognised by the keys of the launch query. */
export type LaunchRule = {
  platform: string;
  /** Which platform's ad opens what. */
  scene: string;
  /** Keys that must all have a value. */
  all?: readonly string[];
  /** Keys of which at least one must have a value. */
  any?: readonly string[];
  /** A value that excludes the rule. */
  unless?: readonly [key: string, value: string];
};

const ALONE = "one key alone";

/**
 * Rules that find the platform whose ad a launch query comes from; the first match decides. Combinations, and keys that
 * only one platform uses, come first. Keys that several platforms use come last, for when nothing better is known:
 * both Ocean Engine and Kuaishou use `creative_id`. `aid` is never a key, because Douyin passes the id of the host app
 * under that name.
 */
export const LAUNCH_RULES: readonly LaunchRule[] = [
  { platform: "gravity", scene: "Gravity's own link", any: ["turbo_vid"] },
  { platform: "baidu", scene: "Baidu landing page or mini-game", any: ["bd_vid"] },
  { platform: "tencent", scene: "WeChat moments and channels", any: ["gdt_vid", "weixinadinfo"] },
  { platform: "tencent", scene: "Tencent outside WeChat", any: ["qz_gdt"] },
  {
    platform: "kuaishou",
    scene: "WeChat mini-game bought at Kuaishou",
    any: ["ksUnitId", "ksCampaignId", "ksCreativeId", "ksChannel"],
  },
  { platform: "kuaishou", scene: "Kuaishou mini-game", all: ["callback"], any: ["unit_id", "account_id", "gsid"] },
  { platform: "kuaishou", scene: "Kuaishou mini-game", all: ["account_id", "unit_id"] },
  { platform: "bytedance", scene: "WeChat mini-game bought at Ocean Engine", any: ["clue_token"] },
  { platform: "bytedance", scene: "Douyin mini-game, 2.0 ads", all: ["clickid"], any: ["projectid", "promotionid"] },
  { platform: "bytedance", scene: "Douyin mini-game, 2.0 ads", all: ["projectid", "promotionid"] },
  { platform: "bytedance", scene: "Douyin mini-game, 1.0 ads", all: ["clickid"], any: ["adid", "creativeid"] },
  { platform: "bytedance", scene: "Douyin mini-game, 1.0 ads", all: ["adid", "creativeid"] },
  { platform: "asa", scene: "Apple Search Ads", all: ["orgId", "attribution"], unless: ["attribution", "false"] },
  {
    platform: "bytedance",
    scene: ALONE,
    any: ["clickid", "ad_id", "advertiser_id", "project_id", "promotion_id", "request_id"],
  },
  { platform: "kuaishou", scene: ALONE, any: ["callback"] },
  { platform: "bytedance", scene: ALONE, any: ["creative_id"] },
];

export function ruleOfLaunch(field: Field): LaunchRule | undefined {
  for (const rule of LAUNCH_RULES) if (isMet(rule, field)) return rule;
  return undefined;
}

function isMet({ all, any, unless }: LaunchRule, field: Field): boolean {
  if (all) for (const key of all) if (field(key) === "") return false;
  if (any && !hasOne(any, field)) return false;
  return !(unless && field(unless[0]) === unless[1]);
}

function hasOne(keys: readonly string[], field: Field): boolean {
  for (const key of keys) if (field(key) !== "") return true;
  return false;
}
