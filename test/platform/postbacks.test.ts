import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { POSTBACK_EVENT_TYPES } from "../../src/domain/postback/postback.ts";
import type { ReplyVerdict } from "../../src/platform/connector/connector.ts";
import { linkOf, readTouch } from "../../src/platform/link.ts";
import { LinkQuery } from "../../src/platform/link-query.ts";
import { PLATFORM_NAMES, POSTBACK_PLATFORMS, platformNamed, postbackConnectorOf } from "../../src/platform/registry.ts";
import { reads } from "./connector-cases.ts";
import { ANDROID, bodyOf, IOS, NOBODY, reply, using } from "./sample.ts";

const CONNECTORS = POSTBACK_PLATFORMS.map((platform) => [platform, postbackConnectorOf(platform)!] as const);

test("every platform with a connector has its own links", () => {
  expect(POSTBACK_PLATFORMS).toHaveLength(10);
  expect(POSTBACK_PLATFORMS.filter((platform) => !PLATFORM_NAMES.includes(platform))).toEqual([]);
});

test.each(["asa", "apple", "gravity", "weibo", "my_network", "natural", "", "constructor"])(
  "%j takes no postbacks",
  (platform) => {
    expect(postbackConnectorOf(platform)).toBeUndefined();
  },
);

test.each(CONNECTORS)("%s names each field once, and its keys and tokens are secret", (_, { fields }) => {
  const names = fields.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain("codes");
  const secrets = fields.filter(({ name }) => /(?:token|secret|key|akey|salt)$/.test(name));
  expect(secrets.filter(({ isSecret, fallback }) => !isSecret || fallback !== "")).toEqual([]);
  const addresses = fields.filter(({ name }) => /url$/.test(name));
  for (const { fallback } of addresses) expect(fallback).toMatch(/^https:\/\//);
});

/** An account with a value for every field. */
const FULL: Readonly<Record<string, string>> = {
  access_token: "s3cret-a",
  postback_key: "s3cret-p",
  refresh_token: "s3cret-r",
  client_secret: "s3cret-c",
  wechat_access_token: "s3cret-w",
  token: "s3cret-t",
  akey: "s3cret-k",
  gateway_token: "s3cret-g",
  sign_key: "s3cret-s",
  encrypt_key: "s3cret-e",
  key: Buffer.from("s3cret-k-16bytes").toString("base64"),
  salt: "s3cret-o",
  secret_key: "s3cret-h",
  client_id: "1",
  user_action_set_id: "2",
  page: "https://g.example/",
  gateway_id: "3",
  src_id: "4",
  pkg_name: "p",
  pkg: "p",
  app_id: "5",
  customer_id: "6",
  wechat_app_id: "wx1",
};

const KEYS = [
  ...["callback", "click_id", "gdt_vid", "qz_gdt", "clue_token", "clickid", "bd_vid", "track_id", "request_id"],
  ...["creative_id", "ad_id", "customer_id", "content_id", "campaign_id", "oaid", "oaid_md5", "imei_md5", "muid"],
  ...["idfa", "android_id_md5", "caid", "wx_openid", "os"],
];

test.each(CONNECTORS)("%s gets a request that can be sent, or none, whatever a touch holds", (_, connector) => {
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.webUrl({ withQueryParameters: true }),
    fc.constantFrom(
      "http://api.e.qq.com/conv?cb=1",
      "http://ad.partner.gifshow.com/x?callback=1",
      "https://als.baidu.com",
    ),
    fc.json(),
    fc.integer(),
  );
  const change = fc.record({
    eventType: fc.constantFrom(...POSTBACK_EVENT_TYPES),
    cents: fc.option(fc.nat()),
    adData: fc.dictionary(fc.constantFrom(...KEYS), value) as fc.Arbitrary<JsonObject>,
    user: fc.constantFrom(NOBODY, ANDROID, IOS, { ...NOBODY, wxOpenid: "o", wxUnionid: "n" }),
  });
  const full = using(connector, FULL);
  fc.assert(
    fc.property(change, (one) => {
      const prepared = full.prepare(one);
      if (prepared.kind === "skip") {
        expect(prepared.reason).toMatch(/^[A-Z].*\.$/);
        expect(prepared.reason).not.toContain("s3cret");
        return;
      }
      const { url, method } = prepared.request;
      expect(new URL(url).protocol).toMatch(/^https?:$/);
      if (method === "POST") bodyOf(prepared.request);
      expect(full.prepare(one)).toEqual(prepared);
      expect(connector.read(reply("{}"), prepared.request).kind).toBe("retry");
    }),
    { numRuns: 300 },
  );
});

test.each(CONNECTORS)("%s never shows a secret when it says what is missing", (_, connector) => {
  const touches: JsonObject[] = [{}, { callback: "c" }, { bd_vid: "v" }, { clue_token: "t" }, { track_id: "t" }];
  for (const { name } of connector.fields) {
    for (const adData of touches) {
      expect(using(connector, { ...FULL, [name]: "" }).reason({ adData })).not.toContain("s3cret");
    }
  }
});

/** The fields of a link's touch as they reach a connector. */
function adDataOf(platform: string, values: Readonly<Record<string, string>>): JsonObject {
  const named = platformNamed(platform)!;
  const options = { baseUrl: "https://t.example.com", appId: 7, campaignId: "", channel: "", macros: {} };
  let link = linkOf(named, "click", options)!;
  for (const [macro, value] of Object.entries(values))
    link = link.replace(`=${macro}`, `=${encodeURIComponent(value)}`);
  const { touch } = readTouch("click", new LinkQuery(link.split("?")[1]!), 0)!;
  const { advertiserId, gid, aid, cid, csite, details } = touch;
  const parameters: Record<string, string> = { ...details, advertiser_id: advertiserId, gid, aid, cid, csite };
  return Object.fromEntries(
    named.adData.flatMap(([name, parameter]) => (parameters[parameter] ? [[name, parameters[parameter]!]] : [])),
  );
}

test.each<[string, Record<string, string>, string]>([
  [
    "tencent",
    { __CALLBACK__: "https://api.e.qq.com/conv?cb=a%3D&conv_id=1", __HASH_OAID__: "a".repeat(32) },
    "hash_oaid",
  ],
  ["kuaishou", { __CALLBACK__: "http://ad.partner.gifshow.com/track/activate?callback=a" }, "callback=a&event_type=1"],
  ["bytedance", { __CALLBACK_PARAM__: "B.a", __OAID__: "o-1", __OS__: "0" }, "o-1"],
  [
    "baidu",
    { __CALLBACK_URL__: "https://als.baidu.com/cb/actionCb?a_type={{ATYPE}}&a_value={{AVALUE}}" },
    "a_type=activate",
  ],
  ["bilibili", { __TRACKID__: "t-1" }, "track_id=t-1"],
  ["vivo", { __CLICKID__: "c-1", __OAID__: "b".repeat(32) }, '"clickId":"c-1"'],
  ["oppo", { __ADID__: "101", __OAID__: "o-1" }, "101"],
  ["xiaomi", { __CUSTOMERID__: "9", __OAID__: "o-1" }, "conv_type=APP_ACTIVE"],
  ["huawei", { "{callback}": "cb-1", "{oaid}": "o-1" }, "o-1"],
  ["honor", { __TRACK_ID__: "t-1", __ADVERTISER_ID__: "1001" }, "trackId=t-1"],
])("a click reported by %s is enough to report an activation to it", (platform, values, told) => {
  const connector = postbackConnectorOf(platform)!;
  const user = { ...NOBODY, ip: "203.0.113.9" };
  const { url, body } = using(connector, FULL).request({ adData: adDataOf(platform, values), user });
  expect(`${url}\n${body}`).toContain(told);
});

/** The verdict of every connector on generic replies. */
const PLAIN_REPLIES: [string, { status: number; body: string }, ReplyVerdict["kind"]][] = [
  ["HTTP 500", reply("", 500), "retry"],
  ["HTTP 502 with a page", reply("<html>Bad gateway</html>", 502), "retry"],
  ["HTTP 503", reply("{}", 503), "retry"],
  ["HTTP 429", reply("", 429), "retry"],
  ["HTTP 408", reply("", 408), "retry"],
  ["HTTP 400", reply("", 400), "permanent"],
  ["HTTP 403 with a page", reply("<html>", 403), "permanent"],
  ["HTTP 404", reply("{}", 404), "permanent"],
  ["HTTP 302", reply("", 302), "retry"],
  ["a page in place of JSON", reply("<html>ok</html>"), "retry"],
  ["an empty body", reply(""), "retry"],
  ["an empty object", reply({}), "retry"],
  ["a list", reply("[0]"), "retry"],
  ["a bare number", reply("0"), "retry"],
  ["null", reply("null"), "retry"],
  ["JSON that is cut off", reply('{"code":0,"mess'), "retry"],
];

describe.each(CONNECTORS)("%s", (_, connector) => {
  reads(connector, PLAIN_REPLIES);
});
