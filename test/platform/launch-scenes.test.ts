import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { cleanId } from "../../src/domain/user/identity.ts";
import { LIMITS } from "../../src/limits.ts";
import { withAdParams } from "../../src/platform/ad-params.ts";
import { HOST_APPS } from "../../src/platform/bytedance/link.ts";
import { LAUNCH_RULES, ruleOfLaunch } from "../../src/platform/launch-rules.ts";
import { fieldsOf } from "../../src/platform/platform.ts";
import { platformNamed, readLaunchQuery } from "../../src/platform/registry.ts";
import { ORGANIC_QUERIES, SCENES } from "./launch-scenes.ts";

const NO_IDS = { advertiserId: "", gid: "", aid: "", cid: "", csite: "" };

describe.each(SCENES)("$scene: $query", ({ scene, platform: name, query, ids, link, key }) => {
  test("names its platform, account, plan, ad and creative", () => {
    const read = readLaunchQuery(query)!;
    expect([read.platform.name, read.scene]).toEqual([name, scene]);
    expect(read.ids).toEqual({ ...NO_IDS, ...ids });
  });

  test("shares a key with the touch that the link of the same click reports", () => {
    const { platform, adData } = readLaunchQuery(query)!;
    const ofLaunch = platform.launchClickIds(fieldsOf(adData)).map(cleanId);
    const ofTouch = platform.touchClickIds(fieldsOf(link)).map(cleanId);
    expect(ofTouch.filter((id) => id !== "" && ofLaunch.includes(id))).toHaveLength(1);
    expect(ofLaunch).toContain(key);
  });
});

test.each(ORGANIC_QUERIES)("%s is no ad", (_, query) => {
  expect(readLaunchQuery(query)).toBeUndefined();
});

test.each<[string, JsonObject]>([
  ["kuaishou", { callback: "t", creative_id: "4" }],
  ["kuaishou", { callback: "t", campaign_id: "2", creative_id: "4" }],
  ["kuaishou", { callback: "__CALLBACK__", account_id: "1", campaign_id: "2", unit_id: "3", creative_id: "4" }],
  ["kuaishou", { callback: "t", gsid: "s", creative_id: "4", request_id: "r" }],
  ["bytedance", { clickid: "c" }],
  ["bytedance", { clickid: "c", callback: "t" }],
  ["bytedance", { clickid: "__CLICKID__", adid: "1", creativeid: "2" }],
  ["bytedance", { clickid: "", projectid: "1", promotionid: "2" }],
  ["bytedance", { clue_token: "t", callback: "y", creative_id: "4", campaign_id: "5" }],
  ["bytedance", { advertiser_id: "1", callback: "cb", cid: "3" }],
])("%s is named by the combination of keys in %j", (name, query) => {
  expect(readLaunchQuery(query)?.platform.name).toBe(name);
});

test("every rule decides some query, and names an existing platform", () => {
  const alone: JsonObject[] = [{ callback: "t" }, { creative_id: "1" }, { ad_id: "1" }, { turbo_vid: "t" }];
  const rest: JsonObject[] = [
    { account_id: "1", unit_id: "2" },
    { projectid: "1", promotionid: "2" },
    { adid: "1", creativeid: "2" },
    { orgId: 1, attribution: true },
  ];
  const queries = [...SCENES.map(({ query }) => withAdParams(query)), ...alone, ...rest];
  expect(new Set(queries.map((query) => ruleOfLaunch(fieldsOf(query))))).toEqual(new Set(LAUNCH_RULES));
  for (const { platform } of LAUNCH_RULES) expect(platformNamed(platform)?.name).toBe(platform);
});

describe("aid", () => {
  test.each([...HOST_APPS])("%s is %s, and never an ad", (aid) => {
    const queries: JsonObject[] = [
      { clue_token: "t", aid },
      { clickid: "c", aid, adid: "" },
      { bytedance: { aid, campaign_id: "1" } },
    ];
    for (const query of queries) expect(readLaunchQuery(query)?.ids.aid).toBe("");
  });

  test("beside a clickid is an unlisted host app", () => {
    expect(readLaunchQuery({ clickid: "c", aid: "999999", promotionid: "7" })?.ids.aid).toBe("7");
    expect(readLaunchQuery({ clickid: "c", aid: "999999" })?.ids.aid).toBe("");
  });

  test("is the ad of version 1.0 if the caller says so", () => {
    expect(readLaunchQuery({ bytedance: { aid: "601" } })?.ids.aid).toBe("601");
  });
});

describe("ad_params", () => {
  const DOUYIN = { clickid: "c", promotionid: "7", aid: "1128" };
  const deep = (levels: number): string => {
    const inner = levels === 0 ? { clickid: "deepest" } : { log_extra: deep(levels - 1) };
    return JSON.stringify(inner);
  };
  const encoded = (times: number, text: string): string =>
    times === 0 ? text : encoded(times - 1, encodeURIComponent(text));
  const clickIdOf = (ad_params: JsonObject[string]) => withAdParams({ ad_params }).clickid;

  test("is read as an object, as text, and percent-encoded up to the limit", () => {
    const text = JSON.stringify({ clickid: "inner" });
    for (const ad_params of [{ clickid: "inner" }, text, ` ${text}`, '{%22clickid%22:"inner"}'])
      expect(clickIdOf(ad_params)).toBe("inner");
    expect(clickIdOf(encoded(LIMITS.adParamsDecodings, text))).toBe("inner");
    expect(clickIdOf(encoded(LIMITS.adParamsDecodings + 1, text))).toBeUndefined();
  });

  test("is followed into nested texts, up to the limit", () => {
    expect(clickIdOf(deep(LIMITS.adParamsDepth - 1))).toBe("deepest");
    expect(clickIdOf(deep(LIMITS.adParamsDepth))).toBeUndefined();
  });

  test("is ignored beyond the size limit", () => {
    const large = (bytes: number) =>
      JSON.stringify({ clickid: "inner", x: "" }).replace(/""}$/, `"${"x".repeat(bytes)}"}`);
    const base = large(0).length;
    expect(clickIdOf(large(LIMITS.adParamsBytes - base))).toBe("inner");
    expect(clickIdOf(large(LIMITS.adParamsBytes - base + 1))).toBeUndefined();
  });

  test("keeps all digits of an id that is a number", () => {
    expect(withAdParams({ ad_params: '{"promotionid":7394295222693527561}' }).promotionid).toBe("7394295222693527561");
  });

  test("adds only what the query lacks", () => {
    const ad_params = { clickid: "inner", promotionid: "8", csite: "9", callback: "x" };
    expect(withAdParams({ ...DOUYIN, promotionid: "__PROMOTION_ID__", ad_params })).toEqual({
      ...DOUYIN,
      promotionid: "8",
      csite: "9",
      ad_params,
    });
  });

  test.each(["{", "%", "%7B%22", "null", "[]", "[1]", "12", '"text"', "%E0%A4%A", "{}", "[".repeat(20_000), "\u0000"])(
    "changes nothing if it is %j",
    (ad_params) => {
      const { ids, platform } = readLaunchQuery({ ...DOUYIN, ad_params })!;
      expect([platform.name, ids]).toEqual(["bytedance", { ...NO_IDS, aid: "7" }]);
    },
  );

  test("never makes a query unreadable, whatever its shape", () => {
    const nested = fc.letrec((tie) => ({
      value: fc.oneof(
        fc.json(),
        fc.string(),
        tie("object").map((value) => JSON.stringify(value)),
      ),
      object: fc.dictionary(fc.constantFrom("ad_params", "log_extra", "clickid", "__proto__"), tie("value"), {
        maxKeys: 3,
      }),
    }));
    fc.assert(
      fc.property(nested.object as fc.Arbitrary<JsonObject>, (query) => {
        for (const id of Object.values(readLaunchQuery({ ...DOUYIN, ...query })?.ids ?? {}))
          expect(typeof id).toBe("string");
      }),
    );
  });
});
