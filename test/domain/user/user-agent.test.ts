import fc from "fast-check";
import { expect, test } from "vitest";
import { type ParsedAgent, parseUserAgent } from "../../../src/domain/user/user-agent.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
const IOS_WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

test.each<[string, string, ParsedAgent]>([
  [
    "Chrome on Android",
    `Mozilla/5.0 (Linux; Android 13; SM-G991B) ${WEBKIT} Chrome/112.0.0.0 Mobile Safari/537.36`,
    { os: "android", version: "13", model: "SM-G991B" },
  ],
  [
    "a WebView",
    `Mozilla/5.0 (Linux; Android 13; SM-G991B Build/TP1A.220624.014; wv) ${WEBKIT} Version/4.0 Chrome/112.0.5615.136 Mobile Safari/537.36`,
    { os: "android", version: "13", model: "SM-G991B" },
  ],
  [
    "a WebView without a build",
    `Mozilla/5.0 (Linux; Android 14; 23127PN0CC; wv) ${WEBKIT} Version/4.0 Chrome/120.0.0.0 Mobile Safari/537.36`,
    { os: "android", version: "14", model: "23127PN0CC" },
  ],
  [
    "WeChat on Android",
    `Mozilla/5.0 (Linux; Android 12; M2102J2SC Build/SKQ1.211006.001; wv) ${WEBKIT} Version/4.0 Chrome/107.0.5304.141 Mobile Safari/537.36 XWEB/5015 MMWEBSDK/20230202 MMWEBID/4411 MicroMessenger/8.0.33.2320(0x28002151) WeChat/arm64 Weixin NetType/WIFI Language/zh_CN ABI/arm64`,
    { os: "android", version: "12", model: "M2102J2SC" },
  ],
  [
    "a WeChat mini-game on Android",
    `Mozilla/5.0 (Linux; Android 10; PCT-AL10 Build/HUAWEIPCT-AL10; wv) ${WEBKIT} Version/4.0 Chrome/86.0.4240.99 XWEB/4313 MMWEBSDK/20220805 Mobile Safari/537.36 MicroMessenger/8.0.27 NetType/4G Language/zh_CN MiniProgramEnv/android`,
    { os: "android", version: "10", model: "PCT-AL10" },
  ],
  [
    "an app's own requests",
    "Dalvik/2.1.0 (Linux; U; Android 11; V2055A Build/RP1A.200720.012)",
    { os: "android", version: "11", model: "V2055A" },
  ],
  [
    "an agent with a locale",
    `Mozilla/5.0 (Linux; U; Android 12; zh-cn; Redmi Note 12 Pro Build/SP1A.210812.016) ${WEBKIT} Version/4.0 Chrome/100.0.4896.127 Mobile Safari/537.36 XiaoMi/MiuiBrowser/17.5.20`,
    { os: "android", version: "12", model: "REDMI NOTE 12 PRO" },
  ],
  [
    "an app's own agent, with a locale and a build apart",
    "com.example.game/120 (Linux; U; Android 9; zh_CN; MI 8 SE; Build/PKQ1.181121.001; Cronet/TTNetVersion:6c7b701a)",
    { os: "android", version: "9", model: "MI 8 SE" },
  ],
  [
    "a version of three parts",
    `Mozilla/5.0 (Linux; Android 8.1.0; vivo X21A Build/OPM1.171019.011) ${WEBKIT} Chrome/62.0.3202.84 Mobile Safari/537.36`,
    { os: "android", version: "8.1.0", model: "VIVO X21A" },
  ],
  [
    "a model whose name begins like a locale",
    `Mozilla/5.0 (Linux; Android 10; LM-Q720) ${WEBKIT} Chrome/110.0.0.0 Mobile Safari/537.36`,
    { os: "android", version: "10", model: "LM-Q720" },
  ],
  [
    "HarmonyOS without Android",
    `Mozilla/5.0 (Phone; OpenHarmony 5.0) ${WEBKIT} Chrome/114.0.0.0 Safari/537.36 ArkWeb/4.1.6.1 Mobile`,
    { os: "harmony", version: "5.0", model: "PHONE" },
  ],
  [
    "a tablet with HarmonyOS",
    `Mozilla/5.0 (Tablet; HarmonyOS 5.1.0) ${WEBKIT} Chrome/132.0.0.0 Safari/537.36 ArkWeb/6.0.0`,
    { os: "harmony", version: "5.1.0", model: "TABLET" },
  ],
  [
    "Safari on an iPhone",
    `Mozilla/5.0 (iPhone; CPU iPhone OS 17_4_1 like Mac OS X) ${IOS_WEBKIT} Version/17.4.1 Mobile/15E148 Safari/604.1`,
    { os: "ios", version: "17.4.1", model: "IPHONE" },
  ],
  [
    "Safari on an iPad",
    `Mozilla/5.0 (iPad; CPU OS 16_5 like Mac OS X) ${IOS_WEBKIT} Version/16.5 Mobile/15E148 Safari/604.1`,
    { os: "ios", version: "16.5", model: "IPAD" },
  ],
  [
    "an iPod",
    `Mozilla/5.0 (iPod touch; CPU iPhone OS 12_5 like Mac OS X) ${IOS_WEBKIT} Mobile/15E148`,
    { os: "ios", version: "12.5", model: "IPOD" },
  ],
  [
    "WeChat on an iPhone",
    `Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) ${IOS_WEBKIT} Mobile/15E148 MicroMessenger/8.0.42(0x18002a2a) NetType/4G Language/zh_CN`,
    { os: "ios", version: "16.6", model: "IPHONE" },
  ],
])("%s tells system, version and model", (_, ua, expected) => {
  expect(parseUserAgent(ua)).toEqual(expected);
});

test.each<[string, string]>([
  ["nothing", ""],
  ["Chrome on Windows", `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36`],
  ["Chrome on Linux", `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/120.0.0.0 Safari/537.36`],
  ["Safari on a Mac", `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${IOS_WEBKIT} Version/17.4 Safari/605.1.15`],
  ["okhttp", "okhttp/4.12.0"],
  ["CFNetwork", "MyGame/12 CFNetwork/1494.0.7 Darwin/23.4.0"],
  ["curl", "curl/8.5.0"],
  ["a macro that was not replaced", "__UA__"],
  ["Android without a version", `Mozilla/5.0 (Linux; Android; SM-G991B) ${WEBKIT}`],
  ["Android without a model", `Mozilla/5.0 (Linux; Android 13) ${WEBKIT}`],
  ["Android cut off within the model", "Mozilla/5.0 (Linux; Android 13; SM-G9"],
  ["an iPhone without a version", `Mozilla/5.0 (iPhone; like Mac OS X) ${IOS_WEBKIT}`],
  ["an iPhone cut off before the version", "Mozilla/5.0 (iPhone; CPU iPhone OS "],
])("%s reveals nothing", (_, ua) => {
  expect(parseUserAgent(ua)).toBeUndefined();
});

test.each<[string, string]>([
  ["13", "SM-G991B"],
  ["12", "Redmi Note 12 Pro"],
  ["8.1.0", "vivo X21A"],
  ["14", "23127PN0CC"],
])("on Android %s every agent of a %s parses to the same", (version, model) => {
  const agents = [
    `Mozilla/5.0 (Linux; Android ${version}; ${model}) ${WEBKIT} Chrome/112.0.0.0 Mobile Safari/537.36`,
    `Mozilla/5.0 (Linux; Android ${version}; ${model} Build/TP1A.220624.014; wv) ${WEBKIT} Version/4.0 Mobile`,
    `Mozilla/5.0 (Linux; Android ${version}; ${model}; wv) ${WEBKIT} Version/4.0 Mobile`,
    `Mozilla/5.0 (Linux; U; Android ${version}; zh-cn; ${model} Build/TP1A.220624.014) ${WEBKIT}`,
    `Mozilla/5.0 (Linux; U; Android ${version}; zh_CN; ${model.toLowerCase()}) ${WEBKIT}`,
    `Dalvik/2.1.0 (Linux; U; Android ${version}; ${model} Build/TP1A.220624.014)`,
    `MyGame/1.0 (Linux;U;Android ${version};${model} Build/TP1A.220624.014)`,
  ];
  const expected = { os: "android", version, model: model.toUpperCase() };
  expect(agents.map(parseUserAgent)).toEqual(agents.map(() => expected));
});

test("two phones that differ in system, version or model parse to different things", () => {
  const agents = [
    `Mozilla/5.0 (Linux; Android 13; SM-G991B) ${WEBKIT}`,
    `Mozilla/5.0 (Linux; Android 12; SM-G991B) ${WEBKIT}`,
    `Mozilla/5.0 (Linux; Android 13; SM-G991) ${WEBKIT}`,
    `Mozilla/5.0 (iPhone; CPU iPhone OS 13 like Mac OS X) ${IOS_WEBKIT}`,
    `Mozilla/5.0 (iPhone; CPU iPhone OS 13_1 like Mac OS X) ${IOS_WEBKIT}`,
    `Mozilla/5.0 (iPad; CPU OS 13 like Mac OS X) ${IOS_WEBKIT}`,
  ];
  expect(new Set(agents.map((ua) => JSON.stringify(parseUserAgent(ua)))).size).toBe(agents.length);
});

const long = (text: string, start = "") => start + text.repeat(Math.ceil(100_000 / text.length));

test.each<[string, string]>([
  ["letters", long("x")],
  ["spaces", long(" ")],
  ["parentheses", long("(")],
  ["openings and semicolons", long("(;")],
  ["the word Android", long("Android ")],
  ["Android with a version, again and again", long("Android 1;")],
  ["a version without end", long("1.", "Android ")],
  ["a number without end", long("1", "Android ")],
  ["a model without end", long("x", "Mozilla/5.0 (Linux; Android 13; ")],
  ["locales without end", long("; zh-cn", "Mozilla/5.0 (Linux; Android 13")],
  ["an iPhone without end", long("x", "Mozilla/5.0 (iPhone; ")],
  ["the word OS", long(" OS ", "Mozilla/5.0 (iPhone; ")],
  ["a version of iOS without end", long("1_", "Mozilla/5.0 (iPhone; CPU iPhone OS ")],
])("only the beginning of a text of 100,000 characters of %s is read", (_, ua) => {
  expect(parseUserAgent(ua)).toEqual(parseUserAgent(ua.slice(0, 1_024)));
});

test("only the first 1,024 characters of a user agent are read, so that none takes long", () => {
  const ua = "Mozilla/5.0 (Linux; Android 13; SM-G991B) AppleWebKit";
  const agent = { os: "android", version: "13", model: "SM-G991B" };
  const end = ua.indexOf(")") + 1;
  expect(parseUserAgent(`${" ".repeat(1_024 - end)}${ua}`)).toEqual(agent);
  expect(parseUserAgent(`${" ".repeat(1_025 - end)}${ua}`)).toBeUndefined();
});

test("any text is read without failing; a version is digits and dots, a model is in upper case", () => {
  const piece = fc.constantFrom(
    "Android",
    "13",
    "; ",
    "zh-cn",
    " Build/",
    "wv",
    "(",
    ")",
    "iPhone",
    " OS ",
    "1_2",
    "SM-G991B",
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(piece, fc.string({ maxLength: 3 }))).map((all) => all.join("")),
  );
  fc.assert(
    fc.property(text, (ua) => {
      const agent = parseUserAgent(ua);
      if (!agent) return;
      expect(agent.version).toMatch(/^\d+(\.\d+)*$/);
      expect(agent.model).toBe(agent.model.toUpperCase());
    }),
  );
});
