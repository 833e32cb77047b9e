import { startApple } from "./apple.ts";
import { startBaidu } from "./baidu.ts";
import { startBilibili } from "./bilibili.ts";
import type { CostRow } from "./costs.ts";
import { type AdRecord, startDouyin } from "./douyin.ts";
import { startHonor } from "./honor.ts";
import { startHuawei } from "./huawei.ts";
import { startKuaishou } from "./kuaishou.ts";
import { startOceanEngine } from "./ocean-engine.ts";
import { startOppo } from "./oppo.ts";
import type { StandInOptions } from "./stand-in.ts";
import { startTencent } from "./tencent.ts";
import { startVivo } from "./vivo.ts";
import { startWechat } from "./wechat.ts";
import { startXiaomi } from "./xiaomi.ts";

export type Platforms = Awaited<ReturnType<typeof startEach>> & { close(): Promise<void> };

export type PlatformsOptions = StandInOptions & {
  costs?: Partial<Record<"tencent" | "kuaishou" | "bytedance" | "baidu" | "asa" | "wechat", CostRow[]>>;
  adRecords?: AdRecord[];
};

/** A stand-in for every platform, each on its own port, by its name in the interface. */
export async function startPlatforms(options: PlatformsOptions = {}): Promise<Platforms> {
  const platforms = await startEach(options);
  const close = async () => {
    await Promise.all(Object.values(platforms).map((standIn) => standIn.close()));
  };
  return { ...platforms, close };
}

async function startEach({ costs = {}, adRecords = [], ...shared }: PlatformsOptions) {
  const [tencent, kuaishou, bytedance, baidu, bilibili, vivo, oppo, xiaomi, huawei, honor, asa, wechat, douyin] =
    await Promise.all([
      startTencent({ ...shared, costs: costs.tencent ?? [] }),
      startKuaishou({ ...shared, costs: costs.kuaishou ?? [] }),
      startOceanEngine({ ...shared, costs: costs.bytedance ?? [] }),
      startBaidu({ ...shared, costs: costs.baidu ?? [] }),
      startBilibili(shared),
      startVivo(shared),
      startOppo(shared),
      startXiaomi(shared),
      startHuawei(shared),
      startHonor(shared),
      startApple({ ...shared, costs: costs.asa ?? [] }),
      startWechat({ ...shared, costs: costs.wechat ?? [] }),
      startDouyin({ ...shared, records: adRecords }),
    ]);
  return { tencent, kuaishou, bytedance, baidu, bilibili, vivo, oppo, xiaomi, huawei, honor, asa, wechat, douyin };
}
