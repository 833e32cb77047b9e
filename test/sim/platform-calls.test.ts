import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Platforms, startPlatforms } from "../../sim/platforms/platforms.ts";
import { NOW_MS } from "./calls.ts";
import { APPLE_CALLS } from "./platform-calls/apple.ts";
import { BAIDU_CALLS } from "./platform-calls/baidu.ts";
import { costsOf, type PlatformCall } from "./platform-calls/call.ts";
import { DOUYIN_CALLS, DOUYIN_RECORDS } from "./platform-calls/douyin.ts";
import { BILIBILI_CALLS, HONOR_CALLS, HUAWEI_CALLS } from "./platform-calls/huawei-honor-bilibili.ts";
import { KUAISHOU_CALLS } from "./platform-calls/kuaishou.ts";
import { OCEAN_ENGINE_CALLS } from "./platform-calls/ocean-engine.ts";
import { OPPO_CALLS, VIVO_CALLS, XIAOMI_CALLS } from "./platform-calls/oppo-vivo-xiaomi.ts";
import { TENCENT_CALLS } from "./platform-calls/tencent.ts";
import { WECHAT_CALLS } from "./platform-calls/wechat.ts";

const CALLS: readonly [keyof Omit<Platforms, "close">, readonly PlatformCall[]][] = [
  ["tencent", TENCENT_CALLS],
  ["kuaishou", KUAISHOU_CALLS],
  ["bytedance", OCEAN_ENGINE_CALLS],
  ["baidu", BAIDU_CALLS],
  ["oppo", OPPO_CALLS],
  ["vivo", VIVO_CALLS],
  ["xiaomi", XIAOMI_CALLS],
  ["huawei", HUAWEI_CALLS],
  ["honor", HONOR_CALLS],
  ["bilibili", BILIBILI_CALLS],
  ["asa", APPLE_CALLS],
  ["wechat", WECHAT_CALLS],
  ["douyin", DOUYIN_CALLS],
];

let platforms: Platforms;

beforeAll(async () => {
  const costs = {
    tencent: costsOf("25610"),
    kuaishou: costsOf("900"),
    bytedance: costsOf("1700"),
    baidu: costsOf("300"),
    asa: costsOf("123"),
    wechat: costsOf("wx0123456789abcdef"),
  };
  platforms = await startPlatforms({ clock: () => NOW_MS, costs, adRecords: DOUYIN_RECORDS });
});
afterAll(() => platforms.close());

/** In order: a later call may be refused because of an earlier one. */
describe.each(CALLS)("%s answers a call as the documents show it", (name, calls) => {
  test.each(calls)("$shows ($mark)", async ({ send, answer, counts }) => {
    const { accepted, refused } = platforms[name];
    accepted.length = 0;
    refused.length = 0;
    const { url, ...request } = send(platforms);
    const response = await fetch(url, request);
    expect(response.status).toBe(answer.status ?? 200);
    expect(await response.json(), refused.at(-1)?.reason).toMatchObject(answer.json);
    expect(accepted).toMatchObject(counts === undefined ? [] : [counts]);
  });
});
