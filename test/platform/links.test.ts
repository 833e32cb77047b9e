import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_AD_IDS, TOUCH_KINDS, type TouchKind } from "../../src/domain/attribution/touch.ts";
import { LIMITS } from "../../src/limits.ts";
import { type LinkOptions, linkMacros, linkOf, readTouch } from "../../src/platform/link.ts";
import { LinkQuery } from "../../src/platform/link-query.ts";
import { PLATFORM_NAMES, platformNamed, platformOfLink } from "../../src/platform/registry.ts";

const OPTIONS: LinkOptions = {
  baseUrl: "https://t.example.com",
  appId: 7,
  campaignId: "c0ffee0123456789",
  channel: "base_channel",
  macros: {},
};

function linkFor(name: string, kind: TouchKind, change: Partial<LinkOptions> = {}): string | undefined {
  return linkOf(platformOfLink(name)!, kind, { ...OPTIONS, ...change });
}

/** The parameters of a link in their order, as printed. */
function parametersOf(link: string): [string, string][] {
  return link
    .slice(link.indexOf("?") + 1)
    .split("&")
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
}

const macrosOf = (link: string) => parametersOf(link).map(([, value]) => value);

const LINKS = PLATFORM_NAMES.flatMap((name) => TOUCH_KINDS.map((kind) => ({ name, kind }))).flatMap(
  ({ name, kind }): [string, TouchKind, string][] => {
    const link = linkFor(name, kind);
    return link === undefined ? [] : [[name, kind, link]];
  },
);

test.each<[string, TouchKind, string]>([
  ["tencent", "click", "__ACCOUNT_ID__ __CLICK_ID__ __CLICK_TIME__ __CALLBACK__ __REQUEST_ID__"],
  ["tencent", "click", "__DEVICE_OS_TYPE__ __HASH_ANDROID_ID__ __HASH_OAID__ __MUID__ __PROMOTED_OBJECT_ID__"],
  ["tencent", "click", "__CAMPAIGN_ID__ __ADGROUP_ID__ __AD_ID__ __DYNAMIC_CREATIVE_ID__ __WECHAT_OPEN_ID__"],
  ["tencent", "click", "__DYNAMIC_CREATIVE_NAME__ __IPV6__ __DEVICE_OS_VERSION__"],
  ["bytedance", "click", "__CID_NAME__ __UNION_SITE__ __CTYPE__ __IPV4__ __IPV6__"],
  ["tencent", "impression", "__ACCOUNT_ID__ __IMPRESSION_ID__ __IMPRESSION_TIME__ __CALLBACK__ __REQUEST_ID__"],
  ["kuaishou", "click", "__CALLBACK__ __ACCOUNTID__ __DID__ __AID__ __CID__ __TS__"],
  ["kuaishou", "click", "__IMEI2__ __OAID__ __OAID2__ __IDFA2__ __ANDROIDID2__ __MAC2__ __KENYID_CAA__ __IP__ __UA__"],
  ["kuaishou", "impression", "__CALLBACK__ __ACCOUNTID__ __DID__ __AID__ __CID__ __TS__"],
  ["bytedance", "click", "__ADVERTISER_ID__ __CALLBACK_PARAM__ __REQUEST_ID__ __TS__ __OS__"],
  ["bytedance", "click", "__PROJECT_ID__ __PROMOTION_ID__ __MID1__ __MID2__ __MID3__ __MID4__ __MID5__ __MID6__"],
  ["bytedance", "click", "__CAMPAIGN_ID__ __AID__ __CID__"],
  [
    "bytedance",
    "click",
    "__IMEI__ __IDFA__ __IDFA_MD5__ __OAID__ __OAID_MD5__ __ANDROIDID__ __CAID_MD5__ __IP__ __UA__",
  ],
  ["bytedance", "impression", "__PROJECT_ID__ __PROMOTION_ID__ __CAMPAIGN_ID__ __AID__ __CID__ __TS__"],
  ["baidu", "click", "__USER_ID__ __PLAN_ID__ __UNIT_ID__ __IDEA_ID__ __CLICK_ID__ __BD_VID__"],
  ["baidu", "click", "__CALLBACK_URL__ __EXT_INFO__ __TS__ __OS_TYPE__ __SIGN__"],
  ["baidu", "click", "__IMEI_MD5__ __IDFA__ __OAID__ __OAID_MD5__ __ANDROID_ID_MD5__ __CAID__ __IP__ __UA__"],
  ["bilibili", "click", "__TRACKID__ __ACCOUNTID__ __CAMPAIGNID__ __UNITID__ __CREATIVEID__ __TS__ __OS__"],
  ["bilibili", "click", "__IMEI__ __IDFA__ __OAID__ __ANDROIDID__ __MAC1__ __CAID__ __IP__ __UA__ __CALLBACKURL__"],
  ["vivo", "click", "__CLICKID__ __REQUESTID__ __CREATIVEID__ __ADID__ __ADVERTISERID__ __TS__ __OAID__"],
  ["oppo", "click", "$req$ $ad$ $an$ $m$ $ua$ $im$ __ADID__ __IMEI__ __OAID__ __TS__ __ANDROIDID__"],
  ["xiaomi", "click", "__CALLBACK__ __CUSTOMERID__ __ADID__ __TS__ __IMEI__ __OAID__ __IP__ __UA__"],
  ["xiaomi", "click", "__APPID__ __SIGN__ __ANDROIDID__ __ADNAME__ false"],
  ["huawei", "click", "{tracking_enabled} {event_type} {device_id} {id_type}"],
  ["huawei", "click", "{callback} {corp_id} {campaign_id} {adgroup_id} {content_id} {trace_time} {oaid} {ip}"],
  ["honor", "click", "__TRACK_ID__ __ADVERTISER_ID__ __CAMPAIGNID__ __GROUPID__ __CREATIVE_ID__ __TIME__ __OAID__"],
  ["gravity", "click", "__CLICK_ID__ __CALLBACK__ __TS__ __OAID__ __IDFA__"],
  ["weibo", "click", "__CLICK_ID__ __CALLBACK__ __TS__ __OAID__ __IDFA__"],
  ["my_network", "click", "__CLICK_ID__ __CALLBACK__ __TS__ __OAID__ __IDFA__"],
])("at %s the %s link has the macros %s", (name, kind, macros) => {
  expect(macrosOf(linkFor(name, kind)!)).toEqual(expect.arrayContaining(macros.split(" ")));
});

test.each(["tencent", "kuaishou", "bytedance", "baidu", "bilibili", "vivo", "oppo", "xiaomi", "huawei", "gravity"])(
  "%s has a click link",
  (name) => {
    expect(LINKS).toContainEqual([name, "click", expect.any(String)]);
  },
);

test.each(LINKS)("at %s the %s link is accepted by every console", (name, kind, link) => {
  const start = `https://t.example.com/event_center/api/v1/event/${kind}/?app_id=7&company=${name}`;
  expect(link.startsWith(`${start}&track_id=c0ffee0123456789&channel=base_channel&`)).toBe(true);
  // Only letters, digits and what surrounds a macro: no `#`, no space, nothing that needs encoding.
  expect(link.slice("https://".length)).toMatch(/^[\w./?&={}$-]+$/);
  expect(URL.canParse(link)).toBe(true);
  expect(link.length).toBeLessThan(10 * 1024);
  const names = parametersOf(link).map(([parameter]) => parameter);
  expect(new Set(names).size).toBe(names.length);
  const macros = macrosOf(link.replace("response_validate=false&", "")).slice(4);
  const isMacro = /^(?:__[A-Z][A-Z0-9_]*[A-Z0-9]__|\{[a-z_]+\}|\$[a-z]+\$)$/;
  expect(macros.filter((macro) => !isMacro.test(macro))).toEqual([]);
  expect(new Set(macros).size).toBe(macros.length);
});

test("the impression link of Tencent has the impression's id and time instead of the click's", () => {
  const click = new Map(parametersOf(linkFor("tencent", "click")!));
  const impression = new Map(parametersOf(linkFor("tencent", "impression")!));
  expect([click.get("click_id"), click.get("ts")]).toEqual(["__CLICK_ID__", "__CLICK_TIME__"]);
  expect([impression.get("impression_id"), impression.get("ts")]).toEqual(["__IMPRESSION_ID__", "__IMPRESSION_TIME__"]);
  const others = (parameters: Map<string, string>) =>
    [...parameters].filter(([name]) => !["click_id", "impression_id", "ts"].includes(name));
  expect(others(impression)).toEqual(others(click));
});

test("no impression link asks for a click's id or time", () => {
  const impressions = LINKS.filter(([, kind]) => kind === "impression");
  expect(impressions.length).toBeGreaterThan(2);
  for (const [, , link] of impressions) expect(link).not.toMatch(/[?&]click_id=|__CLICK_(?:ID|TIME)__/);
});

test("each macro has its mark", () => {
  const certainties = (name: string, macros: Record<string, string> = {}) =>
    new Map(
      [...linkMacros(platformOfLink(name)!, "click", macros)!.values()].map(({ macro, certainty }) => [
        macro,
        certainty,
      ]),
    );
  expect([...new Set(certainties("tencent").values())]).toEqual(["certain"]);
  expect(certainties("baidu").get("__IMEI_MD5__")).toBe("certain");
  expect(certainties("bytedance").get("__IPV6__")).toBe("likely");
  expect(certainties("kuaishou").get("__CALLBACK__")).toBe("certain");
  expect(certainties("kuaishou").get("__MODEL__")).toBe("likely");
  for (const name of ["vivo", "oppo", "xiaomi", "huawei", "honor", "weibo", "my_network"])
    expect([...new Set(certainties(name).values())]).toEqual(["likely"]);
  expect(certainties("tencent", { gid: "__SMART_PROJECT_ID__" }).get("__SMART_PROJECT_ID__")).toBe("own");
});

test.each<[string, TouchKind]>([
  ["asa", "click"],
  ["asa", "impression"],
  ["apple", "click"],
  ["baidu", "impression"],
])("%s has no %s link", (name, kind) => {
  expect(linkOf(platformNamed(name)!, kind, OPTIONS)).toBeUndefined();
});

test.each<Record<string, string>>([
  {},
  { callback: "{{CALLBACK}}" },
  { sign: "{{SIGN}}" },
  { sign: "{{SIGN}}", word_id: "__WORD_ID__" },
  { word_id: "__WORD_ID__", csite: "x" },
])("Baidu's sign stays last with the macros %j", (macros) => {
  const parameters = parametersOf(linkFor("baidu", "click", { macros })!);
  expect(parameters.at(-1)).toEqual(["sign", "sign" in macros ? "{{SIGN}}" : "__SIGN__"]);
  expect(parameters.filter(([name]) => name === "sign")).toHaveLength(1);
});

test.each<[string, TouchKind, Record<string, string>, string[]]>([
  ["kuaishou", "click", { imei_md5: "__IMEI4__" }, ["imei_md5=__IMEI4__"]],
  ["tencent", "click", { gid: "__SMART_PROJECT_ID__" }, ["gid=__SMART_PROJECT_ID__"]],
  ["tencent", "impression", { ts: "__PROCESS_TIME__" }, ["ts=__PROCESS_TIME__", "impression_id=__IMPRESSION_ID__"]],
  ["baidu", "click", { ip: "{{IP}}", ua: "{{UA}}" }, ["ip={{IP}}", "ua={{UA}}"]],
  ["weibo", "click", { click_id: "$CLICK$", clue_token: "[token]" }, ["click_id=$CLICK$", "clue_token=[token]"]],
])("at %s the %s link takes the macros %j in place of ours", (name, kind, macros, expected) => {
  const link = linkFor(name, kind, { macros })!;
  const pairs = parametersOf(link).map((pair) => pair.join("="));
  expect(pairs).toEqual(expect.arrayContaining(expected));
  const kept = (text: string) => parametersOf(text).filter(([parameter]) => !(parameter in macros));
  expect(kept(link)).toEqual(kept(linkFor(name, kind)!));
});

test("macros never change the app, the platform or the campaign that the link belongs to", () => {
  const macros = { app_id: "8", company: "weibo", track_id: "other", channel: "other" };
  const read = new URL(linkFor("kuaishou", "click", { macros })!).searchParams;
  expect(["app_id", "company", "track_id", "channel"].map((name) => read.get(name))).toEqual([
    "7",
    "kuaishou",
    "c0ffee0123456789",
    "base_channel",
  ]);
});

test.each<[string, string, string]>([
  ["a b", "渠道#1", "track_id=a%20b&channel=%E6%B8%A0%E9%81%93%231&"],
  ["a&company=x", "1+1=2?", "track_id=a%26company%3Dx&channel=1%2B1%3D2%3F&"],
])("the campaign %j and the channel %j are encoded", (campaignId, channel, expected) => {
  for (const kind of TOUCH_KINDS)
    expect(linkFor("tencent", kind, { campaignId, channel })).toContain(`company=tencent&${expected}advertiser_id=`);
});

test("whatever the names of campaign and channel, the link is one address that carries both", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1 });
  fc.assert(
    fc.property(name, name, fc.constantFrom(...LINKS), (campaignId, channel, [platform, kind, link]) => {
      const named = linkFor(platform, kind, { campaignId, channel })!;
      expect(named).not.toContain("#");
      const read = new URL(named).searchParams;
      expect([read.get("track_id"), read.get("channel")]).toEqual([campaignId, channel]);
      expect(parametersOf(named).slice(4)).toEqual(parametersOf(link).slice(4));
    }),
  );
});

test("a link without a campaign or a channel leaves the parameter out", () => {
  expect(linkFor("oppo", "click", { campaignId: "", channel: "" })).toMatch(/\?app_id=7&company=oppo&aid=/);
  expect(linkFor("oppo", "click", { channel: "" })).not.toContain("channel=");
});

test.each(["https://t.example.com", "https://t.example.com:8443", "https://example.com/touchpoint", "http://10.0.0.1"])(
  "the base %s is kept as it is",
  (baseUrl) => {
    for (const [name, kind] of LINKS)
      expect(linkFor(name, kind, { baseUrl })!.split("?")[0]).toBe(`${baseUrl}/event_center/api/v1/event/${kind}/`);
  },
);

const AT_MS = Date.UTC(2026, 10, 15, 8, 30);
const MACRO = /(?<==)(?:__|\{|\$)(\w+?)(?:__|\}|\$)(?=&|$)/g;

test.each(LINKS)("at %s the %s link carries nothing while no macro is replaced", (name, kind, link) => {
  const query = link.slice(link.indexOf("?") + 1);
  const spellings = [query, query.replaceAll(MACRO, "{{$1}}"), query.replaceAll(MACRO, "{$1}").toLowerCase()];
  for (const spelling of [...spellings, ...spellings.map(encodeURI)]) {
    const { touch, ...rest } = readTouch(kind, new LinkQuery(spelling), AT_MS)!;
    expect(touch).toMatchObject({
      ...NO_AD_IDS,
      platform: name,
      kind,
      touchedAtMs: AT_MS,
      receivedAtMs: AT_MS,
      ip: "",
    });
    expect(touch.details).toEqual({});
    expect(rest).toEqual({ keys: [], addressKey: undefined });
  }
});

/** App and sign are checked at intake; the time is not a text. A ByteDance ad has ids of either 1.0 or 2.0. */
const NOT_KEPT = ["app_id", "sign", "ts", "response_validate"];

test.each(LINKS)("at %s everything that the %s link asks for is kept", (name, kind, link) => {
  const query = link
    .slice(link.indexOf("?") + 1)
    .replaceAll(MACRO, "value_of_$1")
    .toLowerCase();
  const { details, ...touch } = readTouch(kind, new LinkQuery(query), AT_MS)!.touch;
  const kept = new Set<unknown>([...Object.values(touch), ...Object.values(details)]);
  const lost = [...new URLSearchParams(query)].filter(([, value]) => !kept.has(value)).map(([parameter]) => parameter);
  const allowed = name === "bytedance" ? [...NOT_KEPT, "gid", "aid"] : NOT_KEPT;
  // A second macro counts only if the first is not replaced.
  expect(lost.filter((parameter) => !allowed.includes(parameter) && !parameter.endsWith("_2"))).toEqual([]);
});

test.each([
  ["gdt", "tencent"],
  ["GDT", "tencent"],
  ["Kuaishou", "kuaishou"],
  ["apple", "asa"],
  ["+weibo+", "weibo"],
  ["my_network_2", "my_network_2"],
  ["constructor", "constructor"],
  ["a".repeat(40), "a".repeat(40)],
])("a call with company=%s is of the platform %s", (company, platform) => {
  for (const kind of TOUCH_KINDS)
    expect(readTouch(kind, new LinkQuery(`company=${company}`), AT_MS)?.touch.platform).toBe(platform);
});

test.each([
  ...[
    "",
    "company=",
    "company=natural",
    "company=Natural",
    "company=__COMPANY__",
    "company={company}",
    "Company=weibo",
  ],
  ...["company=360", "company=_x", "company=my-network", "company=my+network", "company=%E5%BE%AE%E5%8D%9A"],
  ...["company=__proto__", "company=weibo%00", "company=weibo%0Ax", `company=${"a".repeat(41)}`],
])("a call with %j names no platform", (query) => {
  for (const kind of TOUCH_KINDS) expect(readTouch(kind, new LinkQuery(query), AT_MS)).toBeUndefined();
});

const read = (query: string) => readTouch("click", new LinkQuery(query), AT_MS)!;

test.each([
  ["1700000000", 1_700_000_000_000],
  ["1700000000123", 1_700_000_000_123],
  ["+1700000000+", 1_700_000_000_000],
  ["0946684800", Date.UTC(2000, 0, 1)],
  ["4102444799999", Date.UTC(2100, 0, 1) - 1],
])("ts=%s is the instant %d", (ts, expected) => {
  expect(read(`company=weibo&ts=${ts}`).touch).toMatchObject({ touchedAtMs: expected, receivedAtMs: AT_MS });
});

test.each([
  ...["", "0", "__TS__", "soon", "2023-11-14", "-1700000000", "1700000000.5", "1.7e12", "%EF%BC%91700000000"],
  ...["946684800", "0946684799999", "17000000001", "1700000000123456", "4102444800000", "9999999999999"],
])("ts=%s is no time, and the time of the call is used instead", (ts) => {
  expect(read(`company=weibo&ts=${ts}`).touch).toMatchObject({ touchedAtMs: AT_MS, receivedAtMs: AT_MS });
});

test.each<[string, string | undefined]>([
  ["callback=%zz", "%zz"],
  ["callback=50%", "50%"],
  ["callback=%E4%BD", "\uFFFD"],
  ["callback=a+b%2Bc", "a b+c"],
  ["callback=%20a%0A", "a"],
  ["callback=a%00b", "a\uFFFDb"],
  ["callback=a\0b", "a\uFFFDb"],
  ["callback=a%ED%A0%80b", "a\uFFFD\uFFFD\uFFFDb"],
  ["callback=a\ud800b", "a\uFFFDb"],
  ["callback=%F0%9F%98%80=;", "😀=;"],
  ["%63allback=a", "a"],
  ["callback=a&callback=b", "a"],
  ["callback=&callback=__CALLBACK__&callback=b", "b"],
  ["callback=__proto__", undefined],
  ["callback&Callback=a&callback[]=b&__proto__=c&unknown=d", undefined],
])("of %j the callback is %j", (query, expected) => {
  expect(read(`company=weibo&${query}`).touch.details).toEqual(expected === undefined ? {} : { callback: expected });
});

test("a very long value is cut to the longest allowed", () => {
  const long = "字".repeat(100_000);
  const { touch, keys } = read(`company=weibo&track_id=${long}&click_id=${long}&ip=${long}`);
  const cut = "字".repeat(Math.floor(LIMITS.linkValueBytes / 3));
  expect([touch.campaignId, touch.ip, touch.details.click_id].map((text) => text === cut)).toEqual([true, true, true]);
  expect(keys.map((key) => key.value.length)).toEqual([32]);
});
