export const texts = {
  en: {
    about:
      "What 1,000 ads of a unit earn, for ads whose client does not know it, as in WeChat and Douyin. An ad that comes with its own eCPM keeps that.",
    newEcpm: "New eCPM",
    table: "eCPMs of ad units",
    columns: {
      unit: "Ad unit",
      period: "Period",
      ecpm: (currency: string) => `eCPM (${currency})`,
    },
    remove: "Remove",
    none: "No eCPMs yet",
    noneHelp: "Ads whose client does not tell what they earned count as earning nothing.",
    removeTitle: "Remove the eCPM?",
    removeAbout: (unit: string, period: string) =>
      `Ads of ${unit}, ${period}, then count as earning nothing unless their client tells. Reports change at once.`,
    removed: "eCPM removed.",
    saved: "eCPM saved.",
    form: {
      create: "New eCPM",
      edit: (unit: string) => `eCPM of ${unit}`,
      unit: "Ad unit ID",
      unitHint: "As the app sends it in $ad_unit_id.",
      ecpm: (currency: string) => `eCPM (${currency})`,
      ecpmHint: "What 1,000 shown ads earn.",
      submit: "Save",
    },
  },
  zh: {
    about: "广告单元每千次展示的收入，用于客户端无法得知收入的广告（如微信、抖音小游戏）。自带 eCPM 的展示以上报为准。",
    newEcpm: "新建 eCPM",
    table: "广告单元的 eCPM",
    columns: {
      unit: "广告单元",
      period: "有效期",
      ecpm: (currency: string) => `eCPM（${currency}）`,
    },
    remove: "删除",
    none: "还没有 eCPM",
    noneHelp: "客户端未上报收入的广告展示按零收入计算。",
    removeTitle: "删除该 eCPM？",
    removeAbout: (unit: string, period: string) =>
      `${unit}（${period}）的广告展示若无客户端上报，将按零收入计算，报表立即更新。`,
    removed: "eCPM 已删除。",
    saved: "eCPM 已保存。",
    form: {
      create: "新建 eCPM",
      edit: (unit: string) => `${unit} 的 eCPM`,
      unit: "广告单元 ID",
      unitHint: "与应用上报的 $ad_unit_id 一致。",
      ecpm: (currency: string) => `eCPM（${currency}）`,
      ecpmHint: "每千次展示的收入。",
      submit: "保存",
    },
  },
};
