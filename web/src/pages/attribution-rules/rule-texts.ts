type RuleText = { label: string; about: string };

/** The text of each rule, by its name in the interface. A rule that is missing here is shown with the server's hint. */
export const ruleTexts: { en: Readonly<Record<string, RuleText>>; zh: Readonly<Record<string, RuleText>> } = {
  en: {
    click_window: {
      label: "Click window",
      about:
        "A click counts for a registration within this time when both share a click ID, a device ID or an open ID. Longer windows attribute more users to ads and leave fewer organic.",
    },
    ip_ua_window: {
      label: "IP and device model window",
      about:
        "The window for a touch that matches only by IP address and device model. Many people share those, so it is short; 0 disables the method.",
    },
    impression_window: {
      label: "Impression window",
      about: "How long after an impression a registration may count for it. Used only when impressions count.",
    },
    impressions: {
      label: "Impressions count",
      about:
        "Whether an ad that was seen but not clicked can win a user. A click always beats an impression matched by the same method.",
    },
    min_gap: {
      label: "Minimum time from touch to registration",
      about:
        "A registration sooner than this after the touch does not count for it: nobody installs and starts a game that fast. 0 disables the rule.",
    },
    flagged_may_win: {
      label: "Suspicious touches may win",
      about:
        "Touches can carry fraud flags (floods, data centres, short gaps). On: they still win, and the flag is shown. Off: they lose.",
    },
    flood_per_address: {
      label: "Flood from one address",
      about: "More touches than this from one IP address within an hour are flagged. 0 disables the flag.",
    },
    flood_per_device: {
      label: "Flood from one device",
      about: "More touches than this from one device within an hour are flagged. 0 disables the flag.",
    },
    short_gap: {
      label: "Suspiciously short gap",
      about: "When a download comes between click and registration, a registration sooner than this is flagged.",
    },
    datacentres: {
      label: "Data centre networks",
      about:
        "Touches from these networks are flagged, because players do not connect from data centres. Addresses or networks, separated by commas, such as 203.0.113.0/24.",
    },
    reattribution: {
      label: "Re-attribute returning users",
      about:
        "On: a user who returns through another ad is attributed again under the two rules below and counts for the new ad from then on. The first attribution stays on record.",
    },
    reclick_days: {
      label: "New click wins after",
      about: "Days after the last attribution from which a new click wins a returning user.",
    },
    reflux_days: {
      label: "Any touch wins after inactivity of",
      about: "Days without any activity after which any new touch wins a returning user.",
    },
  },
  zh: {
    click_window: {
      label: "点击归因窗口期",
      about:
        "点击与注册的点击 ID、设备 ID 或 Open ID 相同时，注册须在此时间内发生才归因于该点击。窗口期越长，归因于广告的用户越多，自然量越少。",
    },
    ip_ua_window: {
      label: "IP 与机型归因窗口期",
      about: "仅靠 IP 地址和机型匹配时的窗口期。很多人的 IP 和机型相同，因此窗口期较短；0 表示关闭该方式。",
    },
    impression_window: {
      label: "曝光归因窗口期",
      about: "曝光之后，注册须在此时间内发生才归因于该曝光。仅在曝光参与归因时使用。",
    },
    impressions: {
      label: "曝光参与归因",
      about: "只有曝光、没有点击的广告能否归因。匹配方式相同时，点击总是优先于曝光。",
    },
    min_gap: {
      label: "触点到注册的最短时间",
      about: "比这更快的注册不是该触点带来的：没有人能那么快安装并启动游戏。0 表示关闭。",
    },
    flagged_may_win: {
      label: "异常触点可以归因",
      about: "触点可能带有作弊标记（触点过多、数据中心、间隔过短）。开启：仍可归因，并显示标记。关闭：不能归因。",
    },
    flood_per_address: {
      label: "同一 IP 触点上限",
      about: "同一 IP 一小时内超过此数的触点会被标记。0 表示关闭。",
    },
    flood_per_device: {
      label: "同一设备触点上限",
      about: "同一设备一小时内超过此数的触点会被标记。0 表示关闭。",
    },
    short_gap: {
      label: "异常短间隔",
      about: "点击与注册之间需要下载时，比这更快的注册会被标记。",
    },
    datacentres: {
      label: "数据中心网段",
      about:
        "来自这些网段的触点会被标记，因为真实玩家不会从数据中心访问。填写地址或网段，以逗号分隔，如 203.0.113.0/24。",
    },
    reattribution: {
      label: "回流用户可重新归因",
      about: "开启：通过其他广告回流的用户按下面两条规则重新归因，此后计入新的广告。首次归因仍保留在记录中。",
    },
    reclick_days: {
      label: "新点击生效天数",
      about: "距上次归因达到该天数后，回流用户可归因于新的点击。",
    },
    reflux_days: {
      label: "沉默天数",
      about: "沉默达到该天数后，回流用户可归因于任何新的触点。",
    },
  },
};
