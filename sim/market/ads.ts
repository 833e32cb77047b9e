import type { Account, Campaign, Ecpm, Rebate } from "../../test/report/oracle-market.ts";
import { Random } from "./random.ts";

/** What an ad leads to. */
export type Offer = "mini_game" | "app";

/** The app that a mini-game runs in; for an app, the phone itself. */
export type Host = "phone" | "wechat" | "douyin" | "kuaishou" | "baidu";

export type Ad = {
  platform: string;
  /** The version of Ocean Engine, whose two versions name things differently. */
  version: "1.0" | "2.0";
  offer: Offer;
  host: Host;
  os: "any" | "android" | "ios";
  advertiserId: string;
  campaignId: string;
  channel: string;
  gid: string;
  gidName: string;
  aid: string;
  aidName: string;
  cid: string;
  csite: string;
  /** How many people it brings, relative to the others. */
  weight: number;
  costPerClickCents: number;
  clicksPerInstall: number;
  /** The share of its people who are back on the next day, and how fast that share falls. */
  nextDayShare: number;
  decay: number;
  payShare: number;
  ecpmMicros: number;
};

export type Catalogue = {
  ads: Ad[];
  campaigns: (Campaign & { name: string; platform: string })[];
  accounts: Account[];
  rebates: Rebate[];
  ecpms: Ecpm[];
};

type Line = Pick<Ad, "platform" | "version" | "offer" | "host" | "os" | "csite"> & { weight: number };

const LINES: readonly Line[] = [
  line("tencent", "mini_game", { weight: 20, csite: "SITE_SET_MOMENTS" }),
  line("tencent", "app", { weight: 10, csite: "SITE_SET_TENCENT_NEWS" }),
  line("bytedance", "mini_game", { weight: 5, csite: "10001" }),
  line("bytedance", "mini_game", { weight: 5, host: "douyin", csite: "40001" }),
  line("bytedance", "app", { weight: 12, csite: "30001" }),
  line("bytedance", "mini_game", { weight: 2, version: "1.0", csite: "1" }),
  line("bytedance", "mini_game", { weight: 2, version: "1.0", host: "douyin", csite: "40002" }),
  line("bytedance", "app", { weight: 4, version: "1.0", csite: "3" }),
  line("kuaishou", "mini_game", { weight: 4, csite: "2" }),
  line("kuaishou", "mini_game", { weight: 5, host: "kuaishou", csite: "2" }),
  line("kuaishou", "app", { weight: 9, csite: "7" }),
  line("baidu", "mini_game", { weight: 4, host: "baidu" }),
  line("baidu", "app", { weight: 4 }),
  line("asa", "app", { weight: 6, os: "ios" }),
  line("bilibili", "mini_game", { weight: 2 }),
  line("bilibili", "app", { weight: 5 }),
  line("vivo", "app", { weight: 5, os: "android" }),
];

function line(platform: string, offer: Offer, rest: Partial<Line> & { weight: number }): Line {
  const host = offer === "app" ? "phone" : "wechat";
  return { platform, offer, host, version: "2.0", os: "any", csite: "", ...rest };
}

/** Apple calls no links, and Bilibili has none for mini-games. */
export function callsLinks({ platform, offer }: Pick<Ad, "platform" | "offer">): boolean {
  return platform !== "asa" && !(platform === "bilibili" && offer === "mini_game");
}

const PLANS = 2;
const ADS_PER_PLAN = 3;
const OPERATORS = ["team-a", "team-b", "team-c"];

/** Accounts, campaigns, plans and ads: one account and one campaign per line, with plans and ads below. */
export function makeCatalogue(seed: number): Catalogue {
  const ads: Ad[] = [];
  const campaigns: Catalogue["campaigns"] = [];
  const accounts: Account[] = [];
  LINES.forEach((row, index) => {
    const random = new Random(seed, "ads", index);
    const advertiserId = `${10 + index}${random.digits(6)}`;
    const campaignId = `camp${String(index).padStart(2, "0")}${random.hex(10)}`;
    const channel = row.offer === "app" ? `${row.platform}_store` : "base_channel";
    const operator = OPERATORS[index % OPERATORS.length]!;
    accounts.push({ ad_platform: row.platform, advertiser_id: advertiserId, operator, dept: "growth" });
    const name = nameOf(row);
    const named = { id: campaignId, name, platform: row.platform, channel };
    campaigns.push({ ...named, os_platform: row.os === "any" ? "" : row.os, operator: "", dept: "growth" });
    for (let plan = 0; plan < PLANS; plan += 1) {
      const gid = `${20 + index}${random.digits(7)}`;
      for (let ad = 0; ad < ADS_PER_PLAN; ad += 1) {
        ads.push({
          ...row,
          advertiserId,
          campaignId,
          channel,
          gid,
          gidName: `${name} plan ${plan + 1}`,
          aid: `${30 + index}${random.digits(8)}`,
          aidName: `${name} ad ${plan + 1}.${ad + 1}`,

          cid: `${40 + index}${random.digits(8)}`,
          ...quality(random),
          weight: row.weight * random.between(0.5, 2),
        });
      }
    }
  });
  return { ads, campaigns, accounts, rebates: accounts.flatMap(rebatesOf), ecpms: ECPMS };
}

/** What the ads of the game's units are estimated to earn in WeChat, where the client does not know it. */
const ECPMS: Ecpm[] = [
  { unit: "adunit-reward", fromDay: "2000-01-01", toDay: "9999-12-30", viewMicros: 52_500 },
  { unit: "adunit-interstitial", fromDay: "2000-01-01", toDay: "9999-12-30", viewMicros: 18_001 },
];

/** Two of three accounts get something back: 2 % in cash at first, and later 5 % in credit as well. */
function rebatesOf({ ad_platform, advertiser_id }: Account, index: number): Rebate[] {
  if (index % 3 === 0) return [];
  const account = { ad_platform, advertiser_id, cashBp: 200 };
  return [
    { ...account, fromDay: "2000-01-01", toDay: "2026-10-31", creditBp: 0 },
    { ...account, fromDay: "2026-11-01", toDay: "9999-12-30", creditBp: 500 },
  ];
}

function nameOf({ platform, offer, host, version }: Line): string {
  const product = offer === "app" ? "app" : `${host} mini-game`;
  return `${platform} ${product}${platform === "bytedance" ? ` ${version}` : ""}`;
}

function quality(random: Random) {
  return {
    costPerClickCents: random.whole(60, 260),
    clicksPerInstall: random.whole(2, 4),
    nextDayShare: random.between(0.2, 0.5),
    decay: random.between(0.5, 0.9),
    payShare: random.between(0.01, 0.12),
    ecpmMicros: random.whole(20_000, 90_000),
  };
}
