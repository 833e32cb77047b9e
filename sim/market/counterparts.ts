import type { Clock } from "../../src/clock.ts";
import type { PlatformAccount } from "../../src/db/platform-account.ts";
import { startBaidu } from "../platforms/baidu.ts";
import { startBilibili } from "../platforms/bilibili.ts";
import type { CostRow } from "../platforms/costs.ts";
import { startKuaishou } from "../platforms/kuaishou.ts";
import { startOceanEngine } from "../platforms/ocean-engine.ts";
import type { StandIn } from "../platforms/stand-in.ts";
import { startTencent } from "../platforms/tencent.ts";
import { startVivo } from "../platforms/vivo.ts";
import { startWechat, type WechatStandIn } from "../platforms/wechat.ts";
import { startAppleTokens } from "./apple-tokens.ts";

/** Everyone whom the server calls: the ad platforms and Apple. */
export type Counterparts = {
  byPlatform: Readonly<Record<string, StandIn>>;
  appleUrl: string;
  /** The callback address that a platform delivers with a click. */
  callbackUrl: (platform: string, token: string) => string;
  /** The app's accounts at the platforms. */
  accounts: (appId: number) => PlatformAccount[];
  /** WeChat, whose ads the game shows: the game's account there, and what WeChat says that its ads earned. */
  publisher: { appId: string; account: (appId: number) => PlatformAccount; earned: CostRow[] };
  close(): Promise<void>;
};

const HERE = "127.0.0.1";

type AccountArguments = [adPlatform: string, settings: Record<string, string>, secrets?: Record<string, string>];

function accountOf(appId: number, ...[adPlatform, settings, secrets = {}]: AccountArguments): PlatformAccount {
  return {
    appId,
    adPlatform,
    advertiserId: "",
    postbacks: true,
    costs: false,
    ratePerS: 0,
    settings,
    secrets,
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
}

function publisherOf({ url, appId: wechatAppId, secret }: WechatStandIn, earned: CostRow[]): Counterparts["publisher"] {
  const account = (appId: number): PlatformAccount => ({
    ...accountOf(appId, "wechat", { base_url: url }, { app_secret: secret }),
    advertiserId: wechatAppId,
    postbacks: false,
    costs: true,
  });
  return { appId: wechatAppId, account, earned };
}

export async function startCounterparts(clock: Clock): Promise<Counterparts> {
  const earned: CostRow[] = [];
  const [tencent, kuaishou, bytedance, baidu, bilibili, vivo, wechat, apple] = await Promise.all([
    // The server sends no token over plain HTTP, so the callbacks ask for none.
    startTencent({ clock, callbacks: "open" }),
    startKuaishou({ clock }),
    startOceanEngine({ clock }),
    startBaidu({ clock }),
    startBilibili({ clock }),
    startVivo({ clock }),
    startWechat({ clock, costs: earned }),
    startAppleTokens(),
  ]);
  const byPlatform = { tencent, kuaishou, bytedance, baidu, bilibili, vivo };
  const callbackUrls: Readonly<Record<string, (token: string) => string>> = {
    tencent: tencent.callbackUrl,
    kuaishou: kuaishou.callbackUrl,
    baidu: baidu.callbackUrl,
  };
  const accounts = (appId: number): PlatformAccount[] => {
    const account = (...of: AccountArguments) => accountOf(appId, ...of);
    const tokensOf = ({ tokens, clientSecret }: { tokens: typeof tencent.tokens; clientSecret: string }) => ({
      access_token: tokens.accessToken,
      refresh_token: tokens.refreshToken,
      client_secret: clientSecret,
    });
    const tencentUrls = { url: `${tencent.url}/v3.0/user_actions/add`, token_url: `${tencent.url}/oauth/token` };
    const vivoUrl = `${vivo.url}/openapi`;
    return [
      account(
        "tencent",
        { ...tencentUrls, callback_hosts: HERE, client_id: tencent.clientId, wechat_app_id: "wx0001" },
        tokensOf(tencent),
      ),
      account("kuaishou", { url: `${kuaishou.url}/track/activate`, callback_hosts: HERE }),
      account("bytedance", { url: `${bytedance.url}/api/v2/conversion`, v1_url: `${bytedance.url}/track/activate/` }),
      account(
        "baidu",
        { url: `${baidu.url}/ocpcapi/api/uploadConvertData`, page: "https://game.example/", callback_hosts: HERE },
        { token: baidu.token, akey: baidu.akey },
      ),
      account("bilibili", { url: `${bilibili.url}/conv/api/conversion/ad/cb/v1` }),
      account(
        "vivo",
        {
          url: `${vivoUrl}/v2/advertiser/behavior/upload`,
          v1_url: `${vivoUrl}/v1/advertiser/behavior/upload`,
          token_url: `${vivoUrl}/v1/oauth2/refreshToken`,
          client_id: vivo.clientId,
          src_id: vivo.srcId,
          pkg_name: "com.example.game",
        },
        tokensOf(vivo),
      ),
    ];
  };
  return {
    byPlatform,
    appleUrl: apple.url,
    callbackUrl: (platform, token) => callbackUrls[platform]?.(token) ?? token,
    accounts,
    publisher: publisherOf(wechat, earned),
    close: async () => {
      await Promise.all([...Object.values(byPlatform), wechat, apple].map((one) => one.close()));
    },
  };
}
