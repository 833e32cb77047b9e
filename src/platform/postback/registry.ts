import type { PostbackConnector } from "../connector.ts";
import { baiduPostback } from "./baidu.ts";
import { bilibiliPostback } from "./bilibili.ts";
import { bytedancePostback } from "./bytedance.ts";
import { huaweiPostback } from "./huawei.ts";
import { kuaishouPostback } from "./kuaishou.ts";
import { oppoPostback } from "./oppo.ts";
import { tencentPostback } from "./tencent.ts";
import { vivoPostback } from "./vivo.ts";
import { xiaomiPostback } from "./xiaomi.ts";

const CONNECTORS: ReadonlyMap<string, PostbackConnector> = new Map([
  ["tencent", tencentPostback],
  ["kuaishou", kuaishouPostback],
  ["bytedance", bytedancePostback],
  ["baidu", baiduPostback],
  ["bilibili", bilibiliPostback],
  ["vivo", vivoPostback],
  ["oppo", oppoPostback],
  ["xiaomi", xiaomiPostback],
  ["huawei", huaweiPostback],
]);

export const POSTBACK_PLATFORMS: readonly string[] = [...CONNECTORS.keys()];

/** How the platform is told; undefined: it takes no postbacks, as Apple, or we do not know how it does. */
export function postbackConnectorOf(platform: string): PostbackConnector | undefined {
  return CONNECTORS.get(platform);
}
