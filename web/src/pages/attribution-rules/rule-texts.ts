type RuleText = { label: string; about: string };

/** Each rule in words. Names are those of the interface; a rule that is missing here is shown with the server's own hint. */
export const ruleTexts: { en: Readonly<Record<string, RuleText>>; zh: Readonly<Record<string, RuleText>> } = {
  en: {
    click_window: {
      label: "Click window",
      about:
        "A click counts for a registration that follows within this time, when both share a click key, a device id or an open id. Longer windows give ads more users, organic fewer.",
    },
    ip_ua_window: {
      label: "Window for address and phone",
      about:
        "The same for a touch that is found only by IP address and phone model. Many people share those, so this window is short; 0 switches the method off.",
    },
    impression_window: {
      label: "Impression window",
      about:
        "How long after an ad was merely seen a registration may be counted for it. Only used when impressions count.",
    },
    impressions: {
      label: "Impressions count",
      about:
        "Whether an ad that was seen but not clicked can win a user. A click always beats an impression of the same certainty.",
    },
    min_gap: {
      label: "Shortest time from touch to registration",
      about:
        "A registration sooner after the touch than this was not brought by it: nobody installs and starts a game that fast. 0 switches the rule off.",
    },
    flagged_may_win: {
      label: "A suspicious touch may win",
      about:
        "Touches can carry fraud flags (floods, data centres, short gaps). On: they still win, and the flag is shown. Off: they lose.",
    },
    flood_per_address: {
      label: "Flood from one address",
      about: "More touches than this from one IP address within an hour are flagged. 0 switches the flag off.",
    },
    flood_per_device: {
      label: "Flood from one device",
      about: "More touches than this of one device within an hour are flagged. 0 switches the flag off.",
    },
    short_gap: {
      label: "Suspiciously short gap",
      about: "Where a download lies between click and registration, a registration sooner than this is flagged.",
    },
    datacentres: {
      label: "Networks of data centres",
      about:
        "Touches from these networks are flagged: people do not sit there. Addresses or networks, separated by commas, such as 203.0.113.0/24.",
    },
    reattribution: {
      label: "Users who return can be attributed anew",
      about:
        "On: a user who comes back by another ad makes a new decision under the two rules below, and counts for the new ad from then on. The first decision stays on the record.",
    },
    reclick_days: {
      label: "New click wins after",
      about: "So many days after the last decision, a new click wins a user who comes back.",
    },
    reflux_days: {
      label: "Any touch wins after silence of",
      about: "After so many days without any activity, any new touch wins a user who comes back.",
    },
  },
  zh: {
    click_window: {
      label: "点击归因窗口",
      about:
        "点击与注册共享点击标识、设备 ID 或 OpenID 时，注册须在此时间内发生才归给该点击。窗口越长，归给广告的用户越多，自然量越少。",
    },
    ip_ua_window: {
      label: "IP + 机型归因窗口",
      about: "仅靠 IP 地址和机型匹配时的窗口。很多人共享这些特征，因此窗口较短；0 表示关闭该方法。",
    },
    impression_window: {
      label: "曝光归因窗口",
      about: "广告仅被看到时，注册须在此时间内发生才归给该曝光。仅在曝光参与归因时使用。",
    },
    impressions: {
      label: "曝光参与归因",
      about: "看到但未点击的广告能否赢得用户。同等确定性下，点击总是优先于曝光。",
    },
    min_gap: {
      label: "点击到注册的最短时间",
      about: "比这更快的注册不是该触点带来的：没有人能那么快安装并启动游戏。0 表示关闭。",
    },
    flagged_may_win: {
      label: "可疑触点可以胜出",
      about: "触点可能带有作弊标记（洪泛、机房、间隔过短）。开启：仍可胜出，并显示标记。关闭：判负。",
    },
    flood_per_address: {
      label: "单一地址洪泛",
      about: "同一 IP 一小时内超过此数的触点会被标记。0 表示关闭。",
    },
    flood_per_device: {
      label: "单一设备洪泛",
      about: "同一设备一小时内超过此数的触点会被标记。0 表示关闭。",
    },
    short_gap: {
      label: "可疑的短间隔",
      about: "点击与注册之间需要下载时，比这更快的注册会被标记。",
    },
    datacentres: {
      label: "机房网段",
      about: "来自这些网段的触点会被标记，因为真人不会在机房上网。填写地址或网段，以逗号分隔，如 203.0.113.0/24。",
    },
    reattribution: {
      label: "回流用户可重新归因",
      about: "开启：通过其他广告回来的用户按下面两条规则重新判定，此后计入新的广告。首次判定仍保留在记录中。",
    },
    reclick_days: {
      label: "新点击生效天数",
      about: "距上次判定超过这么多天后，新的点击可以赢得回来的用户。",
    },
    reflux_days: {
      label: "沉默天数",
      about: "沉默超过这么多天后，任何新的触点都可以赢得回来的用户。",
    },
  },
};
