import { createHash, createHmac } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { signedRequest } from "../../../src/client/report-client.ts";
import type { App } from "../../../src/db/app.ts";
import type { DeveloperApp } from "../../../src/db/developer-app.ts";
import type { DeveloperState } from "../../../src/domain/access/developer-state.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Answer, answerOf } from "../../support/touchpoint.ts";
import type { Row } from "../fixture.ts";
import { AGE_HEADER, adReportOf, listOf, REPORT_BASE, Reports } from "./reports.ts";

const server = sharedServer();
const reports = new Reports(server);

type Endpoint = { path: string; body: (app: Pick<App, "appId">) => Row };

const LIMITED: readonly Endpoint[] = [
  { path: "combo_sql", body: (app) => adReportOf(app) },
  { path: "order/list", body: (app) => listOf(app) },
  { path: "user/list", body: (app) => listOf(app) },
];
const ENDPOINTS: readonly Endpoint[] = [...LIMITED, { path: "metrics/list", body: () => ({}) }];
const NAMES = ENDPOINTS.map((endpoint) => [endpoint.path, endpoint] as const);

let app: App;
let developer: DeveloperApp;
beforeAll(async () => {
  app = await server.createApp();
  developer = await reports.developer();
});

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

/** A JWT as anyone could make it. */
function tokenOf(claims: unknown, key: string, alg = "HS256", digest = "sha256"): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg, typ: "JWT" })}.${part(claims)}`;
  return `${text}.${alg === "none" ? "" : createHmac(digest, key).update(text).digest("base64url")}`;
}

/** Checks all parts of a refusal. Only the ad report has call ids. */
function expectRefusal(answer: Answer, path: string, code: number, msg: string | RegExp): void {
  expect(answer).toMatchObject({ status: 200, code, msg: expect.stringMatching(msg), data: {} });
  expect(answer.data).toEqual({});
  const { request_id: requestId, ...extra } = answer.extra;
  expect(extra).toEqual({ error: answer.msg });
  if (path === "combo_sql") expect(requestId).toMatch(/./);
  else expect(requestId).toBeUndefined();
}

describe("a signed call", () => {
  test.each(NAMES)("of %s is answered, with and without a trailing slash", async (path, { body }) => {
    for (const slash of ["", "/"]) {
      const answer = await reports.call(developer, `${path}${slash}`, body(app));
      expect(answer).toMatchObject({ status: 200, code: 0, msg: "success" });
    }
  });

  test.each(NAMES)("of %s may say Bearer before its token", async (path, { body }) => {
    const { body: text, authorization } = signedRequest(body(app), developer.appKey);
    for (const word of ["Bearer ", "bearer "]) {
      expect(await reports.send(path, text, { authorization: `${word}${authorization}` })).toMatchObject({ code: 0 });
    }
  });

  test("may say when it expires, and from when it is valid", async () => {
    const { body } = signedRequest(listOf(app), developer.appKey);
    const { sign } = JSON.parse(body) as { sign: string };
    const nowS = Math.floor(Date.now() / 1000);
    const codeWith = async (claims: object) => {
      const authorization = tokenOf({ app_key: developer.appKey, ...claims }, sign);
      return (await reports.send("order/list", body, { authorization })).code;
    };
    expect(await codeWith({ exp: nowS + 3_600, nbf: nowS - 3_600 })).toBe(0);
    expect(await codeWith({ exp: nowS - 3_600 })).toBe(2002);
    expect(await codeWith({ nbf: nowS + 3_600 })).toBe(2002);
  });

  test.each(NAMES)("of %s is refused for pages of other sites", async (path, { body }) => {
    const { body: text, authorization } = signedRequest(body(app), developer.appKey);
    const origin = "https://elsewhere.example";
    for (const headers of [{ authorization, origin }, { origin }] as Record<string, string>[]) {
      const answer = await reports.send(path, text, headers);
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
    }
  });

  test.each(NAMES)("of %s is a POST", async (path) => {
    const answer = await answerOf(await fetch(`${server.url}${REPORT_BASE}/${path}/`));
    expect(answer).toMatchObject({ status: 405, code: 1405, data: {} });
  });

  test.each(LIMITED.map((one) => [one.path, one] as const))(
    "of %s says how old its data is",
    async (path, { body }) => {
      expect((await reports.call(developer, path, body(app))).headers.get(AGE_HEADER)).toMatch(/^\d+$/);
    },
  );

  test("of the ad report has its own id, while a list has none", async () => {
    const [one, other] = [
      await reports.call(developer, "combo_sql", adReportOf(app)),
      await reports.call(developer, "combo_sql", adReportOf(app)),
    ];
    expect(one.extra).toEqual({ error: "", request_id: expect.stringMatching(/./) });
    expect(one.extra.request_id).not.toBe(other.extra.request_id);
    for (const path of ["order/list", "user/list"]) {
      expect((await reports.call(developer, path, listOf(app))).extra).toEqual({});
    }
  });
});

/** A spelling in the body, and what is hashed for it; the rest of the body is the same for all. */
type Spelling = { sent: string; hashed: string };
const CHANNELS = (sent: string, hashed: string): Spelling => ({
  sent: `"filtering":{"channel_list":["${sent}"]}`,
  hashed: `filtering={channel_list:[${hashed}]}`,
});
const NESTED = '"filtering":{"version_list":[1],"channel_list":["c"]}';

describe("a sign is accepted", () => {
  const send = async (
    { sent, hashed }: Spelling,
    appId: string,
    signCase: (sign: string) => string = (sign) => sign,
  ) => {
    const fields = [`"app_id":${appId}`, '"decimal_point":2.0', '"date_list":["2026-11-01","2026-11-02"]', sent];
    fields.push('"dims_list": [ "date" ]', '"metrics_list":["AdCost"]', '"statistics_caliber":"user_activated_time"');
    const texts = [`app_id=${appId}`, "decimal_point=2.0", "date_list=[2026-11-01,2026-11-02]", hashed];
    texts.push("dims_list=[date]", "metrics_list=[AdCost]", "statistics_caliber=user_activated_time");
    const sign = signCase(md5(`${texts.sort().join("&")}${developer.appKey}`));
    const body = `{${[...fields, `"sign":"${sign}"`].join(",\n ")}}`;
    return reports.send("combo_sql", body, { authorization: tokenOf({ app_key: developer.appKey }, sign) });
  };

  test.each<[string, Spelling]>([
    ["nested keys sorted", { sent: NESTED, hashed: "filtering={channel_list:[c],version_list:[1]}" }],
    ["nested keys as received", { sent: NESTED, hashed: "filtering={version_list:[1],channel_list:[c]}" }],
    ["non-ASCII plain", CHANNELS("夏 天😀", "夏天😀")],
    ["non-ASCII escaped", CHANNELS("夏 天😀", "\\u590f\\u5929\\ud83d\\ude00")],
    ["non-ASCII sent escaped, hashed plain", CHANNELS("\\u590f", "夏")],
    ["non-ASCII sent and hashed escaped", CHANNELS("\\u590f", "\\u590f")],
    ["angles plain", CHANNELS("a<b>&c", "a<b>&c")],
    ["angles as Go writes them", CHANNELS("a<b>&c", "a\\u003cb\\u003e\\u0026c")],
    ["angles sent as Go writes them", CHANNELS("a\\u003cb", "a\\u003cb")],
    ["a field that the interface does not know", { sent: '"time_zone":"utc"', hashed: "time_zone=utc" }],
    ["an object and a null in such a field", { sent: '"x":{"b":null,"a":true}', hashed: "x={a:true,b:null}" }],
  ])("with %s", async (_, spelling) => {
    const answers = [await send(spelling, String(app.appId)), await send(spelling, `${app.appId}.0`)];
    for (const answer of answers) expect(answer).toMatchObject({ code: 0, msg: "success" });
  });

  test("with numbers in their shortest form, or as written", async () => {
    for (const [page, size] of [
      ["1.0", "20.0"],
      ["1", "20"],
    ]) {
      const fields = `"app_id":${app.appId}.0,"user_filtering":{},"event_filtering":{},"page":1.0,"page_size":20.0`;
      const id = page === "1" ? `${app.appId}` : `${app.appId}.0`;
      const sign = md5(
        `app_id=${id}&event_filtering={}&page=${page}&page_size=${size}&user_filtering={}${developer.appKey}`,
      );
      const headers = { authorization: tokenOf({ app_key: developer.appKey }, sign) };
      for (const path of ["order/list", "user/list"]) {
        expect(await reports.send(path, `{${fields},"sign":"${sign}"}`, headers)).toMatchObject({ code: 0 });
      }
    }
  });

  test("in upper case, with either form as the key of the token", async () => {
    const spelling = CHANNELS("c", "c");
    expect(await send(spelling, String(app.appId), (sign) => sign.toUpperCase())).toMatchObject({ code: 0 });
    const { body, authorization } = signedRequest(adReportOf(app), developer.appKey);
    const upper = body.replace(/"sign":"(.*)"/, (text) => `"sign"${text.slice(6).toUpperCase()}`);
    expect(upper).not.toBe(body);
    expect(await reports.send("combo_sql", upper, { authorization })).toMatchObject({ code: 0 });
  });
});

/** A call that does not prove its caller. */
type Forgery = (
  body: Row,
) => { body: string; authorization?: string } | Promise<{ body: string; authorization?: string }>;

/** The right body with another token. */
const withToken =
  (make: (sign: string) => string): Forgery =>
  (fields) => {
    const { body } = signedRequest(fields, developer.appKey);
    return { body, authorization: make(JSON.parse(body).sign) };
  };
/** The right token with another sign. */
const withSign =
  (sign: unknown): Forgery =>
  (fields) => {
    const { authorization } = signedRequest(fields, developer.appKey);
    return { body: JSON.stringify({ ...fields, sign }), authorization };
  };

const FORGERIES: readonly [string, Forgery][] = [
  ["no Authorization", (fields) => ({ body: signedRequest(fields, developer.appKey).body })],
  ["an empty token", withToken(() => "Bearer ")],
  ["an invalid token", withToken(() => "garbage")],
  ["an invalid token of three parts", withToken(() => "a.b.c")],
  [
    "a token without its signature",
    withToken((sign) => tokenOf({ app_key: developer.appKey }, sign).replace(/[^.]+$/, "")),
  ],
  ["another scheme", withToken((sign) => `Basic ${tokenOf({ app_key: developer.appKey }, sign)}`)],
  ["alg none", withToken((sign) => tokenOf({ app_key: developer.appKey }, sign, "none"))],
  ["HS512", withToken((sign) => tokenOf({ app_key: developer.appKey }, sign, "HS512", "sha512"))],
  ["HS384", withToken((sign) => tokenOf({ app_key: developer.appKey }, sign, "HS384", "sha384"))],
  ["a token that says RS256", withToken((sign) => tokenOf({ app_key: developer.appKey }, sign, "RS256"))],
  ["a token keyed with the app_key", withToken(() => tokenOf({ app_key: developer.appKey }, developer.appKey))],
  ["a token of another call", withToken(() => signedRequest({ app_id: 1 }, developer.appKey).authorization)],
  ["a token without app_key", withToken((sign) => tokenOf({}, sign))],
  ["an app_key that is a number", withToken((sign) => tokenOf({ app_key: 5 }, sign))],
  ["an app_key that is a list", withToken((sign) => tokenOf({ app_key: [developer.appKey] }, sign))],
  ["an app_key that is null", withToken((sign) => tokenOf({ app_key: null }, sign))],
  ["an unknown app_key", (fields) => signedRequest(fields, "0123456789abcdef0123456789abcdef")],
  ["an app_key that is empty", (fields) => signedRequest(fields, "")],
  ["the key of the app itself", (fields) => signedRequest(fields, app.appKey)],
  ["a wrong sign", withSign("0123456789abcdef0123456789abcdef")],
  ["a sign that is empty", withSign("")],
  ["a sign that is a number", withSign(5)],
  ["no sign", withSign(undefined)],
  [
    "a field changed after signing",
    (fields) => {
      const { body, authorization } = signedRequest(fields, developer.appKey);
      return { body: JSON.stringify({ ...JSON.parse(body), app_id: app.appId, page: 2 }), authorization };
    },
  ],
  [
    "a token that names another developer application",
    async (fields) => {
      const other = await reports.developer();
      const { body } = signedRequest(fields, developer.appKey);
      return { body, authorization: tokenOf({ app_key: other.appKey }, JSON.parse(body).sign) };
    },
  ],
  [
    "a developer application that is disabled, and a wrong sign",
    async (fields) => {
      const other = await reports.developer({ state: "disabled", reason: "secret reason" });
      const { authorization } = signedRequest(fields, other.appKey);
      return { body: JSON.stringify({ ...fields, sign: "0123456789abcdef0123456789abcdef" }), authorization };
    },
  ],
];

describe("refused with 2002, always in the same words, is", () => {
  const refused = async ({ path, body }: Endpoint, forge: Forgery) => {
    const forged = await forge(body(app));
    const { authorization } = forged;
    return reports.send(path, forged.body, authorization === undefined ? {} : { authorization });
  };

  test.each(FORGERIES)("%s", async (_, forge) => {
    for (const endpoint of ENDPOINTS) {
      const answer = await refused(endpoint, forge);
      expectRefusal(answer, endpoint.path, 2002, /^sign or Authorization does not verify\.$/);
      expect([...answer.headers.keys()].filter((name) => /^(ratelimit|retry|touchpoint)/.test(name))).toEqual([]);
    }
  });

  test.each(NAMES)("a call of %s that is wrong in other ways too", async (path) => {
    const bodies = ["{}", "[]", "null", '"text"', '{"app_id":"x"}', '{"app_id":999999999,"dims_list":["csite","gid"]}'];
    for (const body of bodies) expectRefusal(await reports.send(path, body, {}), path, 2002, /./);
  });
});

describe("refused with 2004 is", () => {
  test.each<[DeveloperState, string]>([
    ["requested", ""],
    ["refused", "no contract"],
    ["disabled", "left the company"],
  ])("a developer application that is %s, whatever else it sends", async (state, reason) => {
    const other = await reports.developer({ state, reason });
    for (const { path, body } of ENDPOINTS) {
      const words = new RegExp(`${state}.*${reason}`);
      expectRefusal(await reports.call(other, path, body(app)), path, 2004, words);
      expectRefusal(await reports.call(other, path, { app_id: "wrong" }), path, 2004, words);
    }
  });

  test("an app that was not granted, in the same words as one that does not exist", async () => {
    const hidden = await server.createApp();
    const [some, all] = [await reports.developer({ apps: [app.appId] }), developer];
    const missing = { appId: 999_999_999 };
    for (const { path, body } of LIMITED) {
      expect(await reports.call(some, path, body(app))).toMatchObject({ code: 0 });
      expect(await reports.call(all, path, body(hidden)), "made after the grant of all").toMatchObject({ code: 0 });
      const answers = [
        await reports.call(some, path, body(hidden)),
        await reports.call(some, path, body(missing)),
        await reports.call(all, path, body(missing)),
      ];
      for (const answer of answers) expectRefusal(answer, path, 2004, /not granted/);
      expect(new Set(answers.map(({ msg }) => msg)).size).toBe(1);
    }
  });
});
