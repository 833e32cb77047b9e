import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../src/domain/json.ts";
import { PLATFORM_NAMES, platformNamed, readLaunchQuery } from "../src/platform/registry.ts";

test.each<[string, JsonObject]>([
  ["tencent", { gdt_vid: "wx0abc" }],
  ["kuaishou", { ksUnitId: "1" }],
  ["kuaishou", { ksCampaignId: "1" }],
  ["kuaishou", { ksCreativeId: "1" }],
  ["kuaishou", { ksChannel: "kuaishou" }],
  ["kuaishou", { callback: "DHAJASALKFyk1uCKBYCyXp-iIDS-uHDd" }],
  ["bytedance", { clue_token: "x" }],
  ["bytedance", { ad_id: "1" }],
  ["bytedance", { creative_id: 17 }],
  ["bytedance", { request_id: "r" }],
  ["bytedance", { advertiser_id: "1" }],
  ["bytedance", { project_id: "1" }],
  ["bytedance", { promotion_id: "1" }],
  ["baidu", { bd_vid: "b" }],
  ["asa", { orgId: 40669820, attribution: true }],
  ["asa", { orgId: "40669820", attribution: "true" }],
  ["gravity", { turbo_vid: "t" }],
])("the platform %s is inferred from %j", (name, adData) => {
  expect(readLaunchQuery(adData)?.platform.name).toBe(name);
  expect(readLaunchQuery({ [name]: adData })?.platform.name).toBe(name);
});

test.each<[JsonObject]>([
  [{}],
  [{ scene: "1001", from: "share" }],
  [{ gdt_vid: "" }],
  [{ gdt_vid: null }],
  [{ gdt_vid: "__CLICK_ID__" }],
  [{ callback: "{callback}" }],
  [{ orgId: 1 }],
  [{ orgId: 1, attribution: false }],
  [{ attribution: true }],
  [{ tencent: "gdt" }],
])("%j is organic", (adData) => {
  expect(readLaunchQuery(adData)).toBeUndefined();
});

test.each<[string, JsonObject]>([
  ["kuaishou", { ksUnitId: "1", advertiser_id: "2", clue_token: "x" }],
  ["tencent", { gdt_vid: "x", ksUnitId: "1", ad_id: "2" }],
  ["baidu", { bd_vid: "b", gdt_vid: "x", request_id: "2" }],
  ["gravity", { turbo_vid: "t", bd_vid: "b", gdt_vid: "x" }],
  ["bytedance", { clue_token: "x", callback: "y" }],
])("a launch query with keys of several platforms belongs to %s: %j", (name, adData) => {
  expect(readLaunchQuery(adData)?.platform.name).toBe(name);
});

const NO_IDS = { advertiserId: "", gid: "", aid: "", cid: "", csite: "" };

test.each<[string, JsonObject, object]>([
  [
    "tencent",
    { account_id: "1", campaign_id: "2", adgroup_id: "3", ad_id: "4", site_set_name: "feed" },
    { advertiserId: "1", gid: "2", aid: "3", cid: "4", csite: "feed" },
  ],
  ["tencent", { gdt_vid: "x" }, {}],
  ["kuaishou", { account_id: 1, did: 2, aid: 3, cid: 4 }, { advertiserId: "1", gid: "2", aid: "3", cid: "4" }],
  ["kuaishou", { ksCampaignId: "2", ksUnitId: "3", ksCreativeId: "4" }, { gid: "2", aid: "3", cid: "4" }],
  [
    "bytedance",
    { advertiser_id: "1", project_id: "2", promotion_id: "3", csite: "40001" },
    { advertiserId: "1", gid: "2", aid: "3", csite: "40001" },
  ],
  [
    "bytedance",
    { advertiser_id: "1", campaign_id: "2", aid: "3", cid: "4" },
    { advertiserId: "1", gid: "2", aid: "3", cid: "4" },
  ],
  ["bytedance", { clue_token: "x", ad_id: "3", creative_id: "4" }, { aid: "3", cid: "4" }],
  [
    "bytedance",
    { advertiser_id: "1", project_id: "__PROJECT_ID__", promotion_id: "3" },
    { advertiserId: "1", aid: "3" },
  ],
  ["asa", { orgId: 1, campaignId: 2, adId: 3, attribution: true }, { advertiserId: "1", gid: "2", aid: "3" }],
])("%s names account, plan, ad and creative in %j", (name, adData, ids) => {
  expect(readLaunchQuery({ [name]: adData })?.ids).toMatchObject({ ...NO_IDS, ...ids });
});

test("the platforms of the interface and the older names of two of them are known", () => {
  for (const name of ["tencent", "kuaishou", "bytedance", "asa", "baidu", "gravity"])
    expect(PLATFORM_NAMES).toContain(name);
  expect([platformNamed("gdt")?.name, platformNamed("apple")?.name]).toEqual(["tencent", "asa"]);
  for (const name of ["", "natural", "constructor", "__proto__", "TENCENT"])
    expect(platformNamed(name)).toBeUndefined();
  expect(new Set(PLATFORM_NAMES).size).toBe(PLATFORM_NAMES.length);
});

test("any ad_data is read without an error, and all ids are texts", () => {
  const keys = fc.constantFrom(
    "gdt_vid",
    "tencent",
    "asa",
    "orgId",
    "attribution",
    "callback",
    "aid",
    "__proto__",
    "x",
  );
  const value = fc.json().map((text): JsonValue => JSON.parse(text));
  fc.assert(
    fc.property(fc.dictionary(keys, value), (adData) => {
      for (const id of Object.values(readLaunchQuery(adData)?.ids ?? {})) expect(typeof id).toBe("string");
    }),
  );
});
