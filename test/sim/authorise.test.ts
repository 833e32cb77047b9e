import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { linksOf } from "../../sim/platforms/authorise-page.ts";
import { startBaidu } from "../../sim/platforms/baidu.ts";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { StandIn } from "../../sim/platforms/stand-in.ts";
import { startTencent } from "../../sim/platforms/tencent.ts";
import { get, NOW_MS, post, queryOf, type Reply } from "./calls.ts";

const BACK = "https://console.example/console/authorised";
let nowMs = NOW_MS;
const options = { clock: () => nowMs, accounts: ["7001", "7002"], redirects: [BACK] };

type Side = {
  standIn: StandIn;
  /** The address of the authorise page, without the state. */
  page: string;
  query: Record<string, string>;
  redirect: string;
  code: string;
  lifeMs: number;
  exchange: (code: string) => Promise<Reply>;
};

/** How each platform is asked, by what its documents say. */
const SIDES: Readonly<Record<string, () => Promise<Side>>> = {
  "Ocean Engine": async () => {
    const sim = await startOceanEngine(options);
    const client = { app_id: sim.appId, secret: sim.secret, grant_type: "auth_code" };
    return {
      standIn: sim,
      page: "/openapi/audit/oauth.html",
      query: { app_id: sim.appId },
      redirect: "redirect_uri",
      code: "auth_code",
      lifeMs: 600_000,
      exchange: (auth_code) => post(`${sim.url}/open_api/oauth2/access_token/`, { ...client, auth_code }),
    };
  },
  Tencent: async () => {
    const sim = await startTencent(options);
    const client = { client_id: sim.clientId, client_secret: sim.clientSecret, grant_type: "authorization_code" };
    const asked = (authorization_code: string) => queryOf({ ...client, authorization_code, redirect_uri: BACK });
    return {
      standIn: sim,
      page: "/oauth/authorize",
      query: { client_id: sim.clientId },
      redirect: "redirect_uri",
      code: "authorization_code",
      lifeMs: 300_000,
      exchange: (code) => get(`${sim.url}/oauth/token?${asked(code)}`),
    };
  },
  Kuaishou: async () => {
    const sim = await startKuaishou(options);
    const client = { app_id: sim.appId, secret: sim.secret };
    return {
      standIn: sim,
      page: "/tools/authorize",
      query: { app_id: sim.appId, scope: '["report_service"]', oauth_type: "advertiser" },
      redirect: "redirect_uri",
      code: "auth_code",
      lifeMs: 600_000,
      exchange: (auth_code) => post(`${sim.url}/rest/openapi/oauth2/authorize/access_token`, { ...client, auth_code }),
    };
  },
  Baidu: async () => {
    const sim = await startBaidu(options);
    const client = { appId: sim.appId, secretKey: sim.secretKey, grantType: "auth_code", userId: 46000001 };
    return {
      standIn: sim,
      page: "/oauth/page/index",
      query: { appId: sim.appId, platformId: "4960345965958561794" },
      redirect: "callback",
      code: "authCode",
      lifeMs: 600_000,
      exchange: (authCode) => post(`${sim.url}/oauth/accessToken`, { ...client, authCode }),
    };
  },
};

describe.each(Object.entries(SIDES))("%s", (_, start) => {
  let side: Side;
  beforeAll(async () => {
    nowMs = NOW_MS;
    side = await start();
  });
  afterAll(() => side.standIn.close());

  const visit = (more: Record<string, string> = {}) =>
    fetch(
      `${side.standIn.url}${side.page}?${queryOf({ ...side.query, [side.redirect]: BACK, state: "s & t", ...more })}`,
    );
  const newCode = async () => {
    const { authorise } = linksOf(await (await visit()).text());
    return authorise.searchParams.get(side.code)!;
  };

  test("the page goes back to the redirect address with the state, with a code or with an error", async () => {
    const { authorise, deny } = linksOf(await (await visit()).text());
    for (const link of [authorise, deny]) {
      expect(link.origin + link.pathname).toBe(BACK);
      expect(link.searchParams.get("state")).toBe("s & t");
    }
    expect(authorise.searchParams.get(side.code)).toMatch(/^\w{32}$/);
    expect(deny.searchParams.get("error")).toBe("access_denied");
  });

  test("an address that is not registered, and an unknown application, get no code", async () => {
    expect((await visit({ [side.redirect]: "https://evil.example/" })).status).toBe(400);
    expect((await visit(Object.fromEntries(Object.keys(side.query).map((name) => [name, "x"])))).status).toBe(400);
  });

  test("a code is good for one exchange", async () => {
    const code = await newCode();
    expect((await side.exchange(code)).json).toMatchObject({ code: 0 });
    expect((await side.exchange(code)).json.code).not.toBe(0);
    expect(side.standIn.refused.at(-1)?.reason).toMatch(/unknown or was used before/);
  });

  test("a code expires", async () => {
    const code = await newCode();
    nowMs += side.lifeMs;
    expect((await side.exchange(code)).json.code).not.toBe(0);
    expect(side.standIn.refused.at(-1)?.reason).toMatch(/has expired/);
  });
});
