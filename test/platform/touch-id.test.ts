import { expect, test } from "vitest";
import { TOUCH_KINDS, type TouchKind, touchIdOf } from "../../src/domain/attribution/touch.ts";
import { readTouch } from "../../src/platform/link.ts";
import { LinkQuery } from "../../src/platform/link-query.ts";

const AT_MS = Date.UTC(2026, 10, 15, 8, 30);

const idOf = (query: string, kind: TouchKind = "click", atMs = AT_MS) =>
  readTouch(kind, new LinkQuery(query), atMs)!.touch.touchId;

test.each([
  ...["company=tencent&click_id=a", "company=baidu&bd_vid=a", "company=bytedance&clue_token=a", "company=weibo&ip=::1"],
  ...["company=kuaishou&callback=a", "company=oppo&req_id=a&ts=1700000000&aid=1", "company=tencent&impression_id=a"],
])("%s has different ids as a click and as an impression, whenever it arrives", (query) => {
  for (const kind of TOUCH_KINDS) expect(idOf(query, kind, AT_MS + 86_400_000)).toBe(idOf(query, kind));
  expect(idOf(query)).toMatch(/^[0-9a-f]{32}$/);
  expect(idOf(query, "impression")).not.toBe(idOf(query, "click"));
});

test.each<[string, string, "one touch" | "two touches"]>([
  ["company=tencent&click_id=a", "company=gdt&ts=1700000000&x=1&click_id=a", "one touch"],
  ["company=baidu&bd_vid=a", "company=baidu&bd_vid=a&ip=1.2.3.4", "one touch"],
  ["company=bytedance&clue_token=a", "company=bytedance&clue_token=a&ip=1.2.3.4", "one touch"],
  ["company=kuaishou&callback=a", "company=kuaishou&callback=a&ip=1.2.3.4", "one touch"],
  ["company=oppo&req_id=a&ts=1700000000&aid=1", "company=oppo&aid=1&ip=1.2.3.4&ts=1700000000&req_id=a", "one touch"],
  ["company=tencent&click_id=a", "company=tencent&click_id=b", "two touches"],
  ["company=tencent&click_id=a", "company=weibo&click_id=a", "two touches"],
  ["company=kuaishou&callback=a", "company=kuaishou&callback=b", "two touches"],
  ["company=oppo&req_id=a&aid=1", "company=oppo&req_id=a&aid=2", "two touches"],
  ["company=oppo&req_id=a&ts=1700000000", "company=oppo&req_id=a&ts=1700000001", "two touches"],
  ["company=tencent&click_id=0&callback=a", "company=tencent&click_id=0&callback=b", "two touches"],
  ["company=weibo&click_id=null&ip=1.2.3.4", "company=weibo&click_id=null&ip=1.2.3.5", "two touches"],
])("%s and %s are %s", (first, second, expected) => {
  expect(idOf(first) === idOf(second) ? "one touch" : "two touches").toBe(expected);
});

test("a click and an impression with one id are two touches", () => {
  expect(idOf("company=tencent&click_id=a")).not.toBe(idOf("company=tencent&impression_id=a", "impression"));
  const [click, impression] = TOUCH_KINDS.map((kind) => touchIdOf({ platform: "tencent", kind, identity: "a" }));
  expect(click).not.toBe(impression);
});
