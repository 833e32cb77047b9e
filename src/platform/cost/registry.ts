import type { CostConnector } from "../cost-connector.ts";
import { appleCosts } from "./apple.ts";
import { baiduCosts } from "./baidu.ts";
import { bytedanceCosts } from "./bytedance.ts";
import { kuaishouCosts } from "./kuaishou.ts";
import { tencentCosts } from "./tencent.ts";

const CONNECTORS: ReadonlyMap<string, CostConnector> = new Map([
  ["tencent", tencentCosts],
  ["kuaishou", kuaishouCosts],
  ["bytedance", bytedanceCosts],
  ["baidu", baiduCosts],
  ["asa", appleCosts],
]);

export const COST_PLATFORMS: readonly string[] = [...CONNECTORS.keys()];

/** By the platform's name in reports. Undefined: it tells nobody what its ads cost. */
export function costConnectorOf(platform: string): CostConnector | undefined {
  return CONNECTORS.get(platform);
}
