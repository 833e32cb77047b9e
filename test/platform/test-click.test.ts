import { expect, test } from "vitest";
import type { HttpRequest } from "../../src/platform/connector/connector.ts";
import { POSTBACK_PLATFORMS } from "../../src/platform/registry.ts";
import { clickFieldsOf, clickKeysOf, markedAsTest, testMarkOf } from "../../src/platform/test-click.ts";

test("every platform that takes postbacks has keys of clicks, which a test may name with whatever links bring", () => {
  for (const platform of POSTBACK_PLATFORMS) {
    const fields = clickFieldsOf(platform);
    expect(clickKeysOf(platform).length).toBeGreaterThan(0);
    expect(clickKeysOf(platform).filter((key) => !fields.has(key))).toEqual([]);
  }
  expect(clickFieldsOf("bytedance")).toContain("oaid_md5");
  for (const name of ["new_network", "constructor"]) {
    expect(clickKeysOf(name)).toEqual(["callback", "click_id"]);
    expect(testMarkOf(name)).toBe("");
  }
});

const get = (url: string): HttpRequest => ({ method: "GET", url, headers: {} });

test("a request is marked where its route has a mark", () => {
  const v2: HttpRequest = {
    method: "POST",
    url: "https://analytics.oceanengine.com/api/v2/conversion",
    body: "{}",
    headers: { "content-type": "application/json" },
  };
  expect(markedAsTest("bytedance", v2)).toEqual({
    request: { ...v2, headers: { "content-type": "application/json", "x-debug-mode": "1" } },
    mark: "x-debug-mode: 1",
  });
  expect(markedAsTest("xiaomi", get("https://trail.e.mi.com/global/log?info=%2Fglobal%2Flog&a=/global/log"))).toEqual({
    request: get("https://trail.e.mi.com/global/test?info=%2Fglobal%2Flog&a=/global/log"),
    mark: "/global/test",
  });
});

test.each([
  ["bytedance", "https://clue.oceanengine.com/outer/wechat/applet/token/1?timestamp=1&nonce=2&signature=3"],
  ["xiaomi", "https://trail.e.mi.com/api/callback?callback=x"],
  ["kuaishou", "https://ad.partner.gifshow.com/track/activate?callback=x"],
])("%s has no mark at %s", (platform, url) => {
  expect(markedAsTest(platform, get(url))).toBeUndefined();
});

test("platforms without a mark say so", () => {
  expect(POSTBACK_PLATFORMS.filter((platform) => testMarkOf(platform) !== "")).toEqual(["bytedance", "xiaomi"]);
});
