import type { HttpRequest } from "./connector/connector.ts";
import { platformOfLink } from "./registry.ts";

/** What ties a conversion to its click, by the platform's own names. The usual one comes first. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  tencent: ["callback", "click_id", "gdt_vid", "qz_gdt"],
  kuaishou: ["callback"],
  bytedance: ["callback", "clickid", "click_id", "clue_token"],
  baidu: ["bd_vid", "callback"],
  bilibili: ["track_id"],
  vivo: ["click_id", "request_id", "creative_id"],
  oppo: ["ad_id"],
  xiaomi: ["callback", "customer_id"],
  huawei: ["callback"],
};

const USUAL_KEYS = ["callback", "click_id"];

export function clickKeysOf(platform: string): readonly string[] {
  // Apps choose the names of platforms, so one may be that of something every object has.
  return Object.hasOwn(KEYS, platform) ? KEYS[platform]! : USUAL_KEYS;
}

/** The fields of a click that a test may name: its keys, and everything that links and launch queries bring. */
export function clickFieldsOf(platform: string): ReadonlySet<string> {
  const known = platformOfLink(platform);
  const brought = known ? [...known.adData.map(([field]) => field), ...Object.keys(known.launchNames)] : [];
  return new Set([...clickKeysOf(platform), ...brought]);
}

/** A request that the platform can tell from a real one, and by what. */
export type Marked = { request: HttpRequest; mark: string };

type Mark = {
  /** The mark in a few words, as people see it. */
  name: string;
  /** The marked request, or undefined on a route that has no mark. */
  put(request: HttpRequest): HttpRequest | undefined;
};

/** Known from public callers alone (likely): whether a marked conversion is counted is for the platform to say. */
const MARKS: Readonly<Record<string, Mark>> = {
  bytedance: {
    name: "x-debug-mode: 1",
    // The gateway for WeChat mini-games has none.
    put: (request) =>
      new URL(request.url).searchParams.has("signature")
        ? undefined
        : { ...request, headers: { ...request.headers, "x-debug-mode": "1" } },
  },
  xiaomi: {
    name: "/global/test",
    put(request) {
      const url = request.url.replace(/\/global\/log(?=\?|$)/, "/global/test");
      return url === request.url ? undefined : { ...request, url };
    },
  },
};

/** The platform's mark of test conversions, or the empty text when it does not tell them from real ones. */
export function testMarkOf(platform: string): string {
  return markOf(platform)?.name ?? "";
}

function markOf(platform: string): Mark | undefined {
  return Object.hasOwn(MARKS, platform) ? MARKS[platform] : undefined;
}

export function markedAsTest(platform: string, request: HttpRequest): Marked | undefined {
  const mark = markOf(platform);
  const marked = mark?.put(request);
  return mark && marked && { request: marked, mark: mark.name };
}
