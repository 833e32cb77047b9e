import { createHash, createHmac, generateKeyPairSync, sign as signWith } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { signedRequest } from "../../src/client/report-client.ts";
import type { App } from "../../src/db/app.ts";
import type { DeveloperApp } from "../../src/db/developer-app.ts";
import { refresh } from "../http/endpoints.ts";
import { type Row, Tables, track } from "../http/fixture.ts";
import { adReportOf, listOf, Reports } from "../http/report/reports.ts";
import { sharedServer } from "../support/shared-server.ts";
import type { Answer } from "../support/touchpoint.ts";

const server = sharedServer();
const tables = new Tables(server);
const reports = new Reports(server);

let app: App;
let developer: DeveloperApp;
beforeAll(async () => {
  app = await server.createApp();
  developer = await reports.developer();
});

const part = (value: unknown) =>
  (Buffer.isBuffer(value) ? value : Buffer.from(typeof value === "string" ? value : JSON.stringify(value))).toString(
    "base64url",
  );

/** A token with any head and claims, under any key. */
function tokenOf(head: unknown, claims: unknown, key: string | Buffer, digest = "sha256"): string {
  const text = `${part(head)}.${part(claims)}`;
  return `${text}.${createHmac(digest, key).update(text).digest("base64url")}`;
}

const HS256 = { alg: "HS256", typ: "JWT" };
const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const nowS = () => Math.floor(Date.now() / 1000);
const claims = (more: object = {}) => ({ app_key: developer.appKey, ...more });
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const PEM = publicKey.export({ type: "spki", format: "pem" }).toString();

function rsaToken(): string {
  const text = `${part({ alg: "RS256", jwk: publicKey.export({ format: "jwk" }) })}.${part(claims())}`;
  return `${text}.${signWith("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
}

/** Other tokens for a valid body: anyone who sees one call knows its sign. */
const TOKENS: readonly [string, (sign: string) => string][] = [
  ["RS256 with a key that it brings along", () => rsaToken()],
  ["RS256 with the public key as the secret", () => tokenOf({ alg: "RS256" }, claims(), PEM)],
  ["the alg in small letters", (sign) => tokenOf({ alg: "hs256" }, claims(), sign)],
  ["the alg None", (sign) => tokenOf({ alg: "None" }, claims(), sign)],
  ["the alg as a list", (sign) => tokenOf({ alg: ["HS256"] }, claims(), sign)],
  ["two algs", (sign) => tokenOf('{"alg":"HS256","alg":"none"}', claims(), sign)],
  ["no alg", (sign) => tokenOf({ typ: "JWT" }, claims(), sign)],
  ["an alg of its ancestors", (sign) => tokenOf('{"__proto__":{"alg":"HS256"}}', claims(), sign)],
  ["a key of its own in the head", () => tokenOf({ ...HS256, jwk: { kty: "oct", k: part("mine") } }, claims(), "mine")],
  ["a kid that leads elsewhere", () => tokenOf({ ...HS256, kid: "../../dev/null" }, claims(), "")],
  ["an x5u", () => tokenOf({ ...HS256, x5u: "https://evil.example/key" }, claims(), "mine")],
  ["an unknown critical header", (sign) => tokenOf({ ...HS256, crit: ["x"], x: 1 }, claims(), sign)],
  ["an unencoded payload", (sign) => tokenOf({ ...HS256, crit: ["b64"], b64: false }, claims(), sign)],
  ["an empty key", () => tokenOf(HS256, claims(), "")],
  ["the sign as bytes", (sign) => tokenOf(HS256, claims(), Buffer.from(sign, "hex"))],
  ["the sign of an empty body", () => tokenOf(HS256, claims(), md5(developer.appKey))],
  ["a time that is over", (sign) => tokenOf(HS256, claims({ exp: nowS() - 3_600 }), sign)],
  ["a time that is to come", (sign) => tokenOf(HS256, claims({ nbf: nowS() + 3_600 }), sign)],
  ["an invalid time", (sign) => tokenOf(HS256, claims({ exp: "tomorrow" }), sign)],
  ["an app_key of its ancestors", (sign) => tokenOf(HS256, `{"__proto__":{"app_key":"${developer.appKey}"}}`, sign)],
  [
    "two app_keys, the wrong one last",
    (sign) => tokenOf(HS256, `{"app_key":"${developer.appKey}","app_key":"x"}`, sign),
  ],
  ["claims that are a list", (sign) => tokenOf(HS256, [claims()], sign)],
  ["claims that are a text", (sign) => tokenOf(HS256, JSON.stringify(developer.appKey), sign)],
  ["claims that are no JSON", (sign) => tokenOf(HS256, "{", sign)],
  ["claims that are no UTF-8", (sign) => tokenOf(HS256, Buffer.from([0xff, 0xfe]), sign)],
  ["a digest in place of the key", (sign) => tokenOf(HS256, claims({ app_key: md5(developer.appKey) }), sign)],
  ["blanks around the key", (sign) => tokenOf(HS256, claims({ app_key: ` ${developer.appKey}` }), sign)],
  ["a signature that is cut", (sign) => tokenOf(HS256, claims(), sign).slice(0, -4)],
  [
    "a signature in other letters",
    (sign) => tokenOf(HS256, claims(), sign).replace(/\.[^.]+$/, (last) => last.toUpperCase()),
  ],
  ["more behind the signature", (sign) => `${tokenOf(HS256, claims(), sign)}.x`],
  ["five parts", (sign) => `${tokenOf(HS256, claims(), sign)}.x.y`],
  ["many dots", () => ".".repeat(10_000)],
  ["nothing but dots", () => ".."],
  ["a head and claims alone", (sign) => tokenOf(HS256, claims(), sign).split(".").slice(0, 2).join(".")],
  ["a token without end", (sign) => tokenOf(HS256, claims({ more: "x".repeat(10_000) }), `${sign}x`)],
  ["two tokens", (sign) => `${tokenOf(HS256, claims(), "x")}, ${tokenOf(HS256, claims(), sign)}`],
  ["Bearer twice", (sign) => `Bearer Bearer ${tokenOf(HS256, claims(), sign)}`],
];

/** Other bodies under the token of a valid call. */
const BODIES: readonly [string, (right: string, other: string) => string][] = [
  ["the body of another call", (_, other) => other],
  ["a field twice, the first as signed", (right) => right.replace(/\}$/, ',"page":2}')],
  ["a field twice, the last as signed", (right) => right.replace(/^\{/, '{"app_id":1,')],
  ["a field with an escaped name", (right) => right.replace(/^\{/, '{"\\u0061pp_id":1,')],
  ["the field __proto__", (right) => right.replace(/^\{/, '{"__proto__":{"app_id":1},')],
  ["an unknown field", (right) => right.replace(/^\{/, '{"x":1,')],
  ["a field less", (right) => right.replace(/,"page_size":20/, "")],
  ["a number one greater", (right) => right.replace('"page_size":20', '"page_size":21')],
  ["a number with a fraction of nothing", (right) => right.replace('"page_size":20', '"page_size":20.000001')],
  ["the sign twice, the wrong one last", (right) => right.replace(/\}$/, ',"sign":"0"}')],
  ["the sign as a list", (right) => right.replace(/"sign":("[^"]+")/, '"sign":[$1]')],
  ["the sign as an object", (right) => right.replace(/"sign":("[^"]+")/, '"sign":{"a":$1}')],
  ["the sign with a NUL", (right) => right.replace(/"sign":"([^"]+)"/, '"sign":"$1\\u0000"')],
  ["the sign under another name", (right) => right.replace('"sign"', '"Sign"')],
  ["the fields in a list", (right) => `[${right}]`],
];

const PATHS: readonly [string, (given: Pick<App, "appId">) => Row][] = [
  ["user/list", (given) => listOf(given, { page: 1, page_size: 20 })],
  ["combo_sql", (given) => ({ ...adReportOf(given), page_size: 20 })],
];

/** Checks the refusal word for word, so that nothing can be learnt from it. */
function expectTheRefusal({ status, code, msg, data, extra, headers }: Answer): void {
  const { request_id: _, ...rest } = extra;
  const words = "sign or Authorization does not verify.";
  expect({ status, code, msg, data, rest }).toEqual({
    status: 200,
    code: 2002,
    msg: words,
    data: {},
    rest: { error: words },
  });
  expect([...headers.keys()].filter((name) => /^(?:ratelimit|retry|touchpoint|www)/.test(name))).toEqual([]);
}

describe("refused in the same words is a report with", () => {
  test.each(TOKENS)("%s", async (_, forge) => {
    for (const [path, bodyOf] of PATHS) {
      const { body } = signedRequest(bodyOf(app), developer.appKey);
      expectTheRefusal(await reports.send(path, body, { authorization: forge(JSON.parse(body).sign) }));
    }
  });

  test.each(BODIES)("%s", async (_, forge) => {
    for (const [path, bodyOf] of PATHS) {
      const right = signedRequest(bodyOf(app), developer.appKey);
      const other = signedRequest(bodyOf({ appId: app.appId + 1 }), developer.appKey);
      expect(await reports.send(path, right.body, right)).toMatchObject({ code: 0 });
      const forged = forge(right.body, other.body);
      expect(forged).not.toBe(right.body);
      expectTheRefusal(await reports.send(path, forged, { authorization: right.authorization }));
    }
  });

  test("the sign or the token of another endpoint's body", async () => {
    const list = signedRequest(listOf(app), developer.appKey);
    const report = signedRequest(adReportOf(app), developer.appKey);
    expectTheRefusal(await reports.send("combo_sql", report.body, { authorization: list.authorization }));
    expectTheRefusal(await reports.send("user/list", list.body, { authorization: report.authorization }));
  });

  test("a number sent as a text, which has the same sign, by its type", async () => {
    // Quotes are not part of what is signed: the schema refuses it, and reveals nothing else.
    const { body, authorization } = signedRequest(listOf(app), developer.appKey);
    const forged = body.replace(`"app_id":${app.appId}`, `"app_id":"${app.appId}"`);
    expect(await reports.send("user/list", forged, { authorization })).toMatchObject({ code: 1004, data: {} });
  });
});

describe("a token refresh", () => {
  const right = () => refresh(app, "media-1") as { wx_access_token: string; current_time: number; sign: string };
  const mediaTokens = () => tables.query("select * from media_token where app_id = $1", [app.appId]);

  test.each<[string, () => Row]>([
    ["another token under the sign", () => ({ ...right(), wx_access_token: "media-2" })],
    ["another time under the sign", () => ({ ...right(), current_time: right().current_time + 1 })],
    ["a fraction of the time", () => ({ ...right(), current_time: right().current_time + 0.5 })],
    [
      "the parts at another place",
      () => {
        const { current_time } = right();
        return { wx_access_token: `media-1&current_time=${current_time}`, current_time, sign: right().sign };
      },
    ],
    ["a sign that is cut", () => ({ ...right(), sign: right().sign.slice(1) })],
    ["a sign with more behind it", () => ({ ...right(), sign: `${right().sign}0` })],
    ["the sign of an empty key", () => refresh({ appKey: "" }, "media-1")],
    ["the sign of the access token", () => refresh({ appKey: app.accessToken }, "media-1")],
    ["the sign of the key of a developer application", () => refresh({ appKey: developer.appKey }, "media-1")],
  ])("with %s is refused with 2002 and stores nothing", async (_, body) => {
    const answer = await server.post("base/wx/access_token/refresh/", app, body());
    expect(answer).toMatchObject({ status: 200, code: 2002, msg: "sign does not verify.", data: {} });
    expect(await mediaTokens()).toEqual([]);
  });

  test.each<[string, Row]>([
    ["a sign that is a list", { sign: [] }],
    ["a sign that is empty", { sign: "" }],
    ["a time that is a text", { current_time: String(nowS()) }],
    ["a time that is null", { current_time: null }],
    ["a token that is an object", { wx_access_token: { a: 1 } }],
  ])("with %s is refused by its type", async (_, change) => {
    const answer = await server.post("base/wx/access_token/refresh/", app, { ...right(), ...change });
    expect(answer).toMatchObject({ status: 200, code: 1004, data: {} });
    expect(await mediaTokens()).toEqual([]);
  });
});

describe("a user token", () => {
  test("gives access only to its own app's client, whole and unchanged", async () => {
    const other = await server.createApp();
    const { token } = (await server.register(app, "token-user")).data as { token: string };
    await server.register(other, "token-user");
    const send = (given: string, to = app) =>
      server.post("event/consumer_event/", to, { event_type: "START", ts: Date.now() }, { query: { token: given } });
    expect(await send(token)).toMatchObject({ code: 0 });
    const [body, signature] = token.split(".") as [string, string];
    const forged = [
      ...[body, `${body}.`, `.${signature}`, `${token}.x`, `${token}A`, `${body}.${signature.slice(1)}`, "..", "."],
      `${part(`${app.appId}:somebody-else`)}.${signature}`,
      `${part(`${other.appId}:token-user`)}.${signature}`,
      `${body}.${createHmac("sha256", "").update(`user-token:${body}`).digest().subarray(0, 16).toString("base64url")}`,
    ];
    for (const one of forged) {
      expect(await send(one), one).toMatchObject({
        code: 1004,
        msg: "token is not a user token of this app.",
        data: {},
      });
    }
    expect(await send(token, other)).toMatchObject({ code: 1004, msg: "token is not a user token of this app." });
    expect(await tables.eventNames(other)).toEqual([]);
  });
});

test("an access token is read whole, only from the query, and the first of two counts", async () => {
  await server.register(app, "u");
  const other = await server.createApp();
  const body = JSON.stringify({ client_id: "u", event_list: [track("e")] });
  const send = async (query: string, headers: Record<string, string> = {}) => {
    for (const path of ["event/collect", "user/get"]) {
      const response = await fetch(`${server.url}/event_center/api/v1/${path}/?${query}`, {
        method: "POST",
        headers,
        body,
      });
      const { code } = (await response.json()) as { code: number };
      if (code !== 2001) return code;
    }
    return 2001;
  };
  const { accessToken: token } = app;
  expect(await send(`access_token=${token}`)).toBe(0);
  for (const query of [
    ...["", "access_token", "access_token=", `access_token=${token.slice(0, -1)}`, `access_token=${token}%00`],
    ...[`access_token=${token}%20`, `ACCESS_TOKEN=${token}`, `xaccess_token=${token}`, `access_token[]=${token}`],
    ...[`access_token=nobody&access_token=${token}`, `access_token=%25${token}`, "access_token=__proto__"],
  ]) {
    expect(await send(query), query).toBe(2001);
  }
  expect(await send("", { authorization: `Bearer ${token}`, cookie: `access_token=${token}` })).toBe(2001);
  expect(await send(`access_token=${other.accessToken}&access_token=${token}`)).not.toBe(0);
});
