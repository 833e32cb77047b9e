import { useCallback } from "react";
import { useLanguage } from "../texts.ts";

/** Display names of the ad platforms; others are shown by their names in the interface. */
const NAMES: Readonly<Record<string, { en: string; zh: string }>> = {
  natural: { en: "Organic", zh: "自然量" },
  tencent: { en: "Tencent Ads", zh: "腾讯广告" },
  bytedance: { en: "Ocean Engine", zh: "巨量引擎" },
  kuaishou: { en: "Kuaishou", zh: "磁力引擎" },
  baidu: { en: "Baidu", zh: "百度营销" },
  bilibili: { en: "Bilibili", zh: "哔哩哔哩" },
  asa: { en: "Apple Ads", zh: "苹果广告" },
  huawei: { en: "Huawei", zh: "华为" },
  honor: { en: "Honor", zh: "荣耀" },
  oppo: { en: "OPPO", zh: "OPPO" },
  vivo: { en: "vivo", zh: "vivo" },
  iqiyi: { en: "iQIYI", zh: "爱奇艺" },
  qihu360: { en: "Qihoo 360", zh: "360 点睛" },
  uc: { en: "UC", zh: "UC 汇川" },
  weibo: { en: "Weibo", zh: "微博" },
  xiaohongshu: { en: "Xiaohongshu", zh: "小红书" },
  wechat: { en: "WeChat", zh: "微信" },
  douyin: { en: "Douyin mini-game", zh: "抖音小游戏" },
  xiaomi: { en: "Xiaomi", zh: "小米" },
};

export function usePlatformName(): (name: string) => string {
  const language = useLanguage();
  return useCallback((name) => NAMES[name]?.[language] ?? name, [language]);
}
