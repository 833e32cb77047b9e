import type { Explanation } from "../../../../src/contract/admin/why.ts";

type Candidate = Explanation["candidates"][number];
type Method = Explanation["method"];

/** The facts that a sentence about a candidate mentions; durations are already formatted. */
export type Told = { isClick: boolean; gap: string; window: string; winner: string; method: string; flags: string };

type AttributionTexts = {
  methods: Record<Method, string>;
  /** The outcome in a word or two. */
  outcomes: Record<Candidate["outcome"], string>;
  /** The reason for the outcome, as a sentence. */
  reasons: Record<Candidate["outcome"], (told: Told) => string>;
  flags: Record<Candidate["flags"][number], string>;
  keys: Readonly<Record<string, string>>;
  kinds: Record<Candidate["kind"], string>;
  units: { d: string; h: string; m: string; s: string; ms: string };
};

const en: AttributionTexts = {
  methods: {
    click_key: "click ID",
    device_id: "device ID",
    open_id: "open ID",
    launch_query: "launch query",
    ip_ua: "IP and device model",
    reported: "the caller's report",
    "": "nothing",
  },
  outcomes: {
    won: "Won",
    reported_stands: "Reported source stands",
    earlier_method_won: "A stronger match won",
    click_won: "A click won",
    later_touch_won: "A later touch won",
    greater_id_won: "Tie",
    after_registration: "Too late",
    outside_window: "Too old",
    too_fast: "Too soon",
    impressions_off: "Impressions are off",
    flagged: "Flagged",
  },
  reasons: {
    won: ({ isClick, gap, window }) =>
      `This ${isClick ? "click" : "impression"} counts: ${gap} before, inside the window of ${window}.`,
    reported_stands: () => "The caller reported where the user came from, which overrides every touch.",
    earlier_method_won: ({ winner, method }) => `Matched by ${method}; ${winner} is a stronger match.`,
    click_won: () => "A click by the same method beats an impression.",
    later_touch_won: () => "Another touch by the same method was later, and the last one counts.",
    greater_id_won: () => "Another touch at the same instant has the greater ID, which breaks the tie.",
    after_registration: () => "It came after the registration, so it cannot have brought the user.",
    outside_window: ({ gap, window }) => `It was ${gap} before, and the window is ${window}.`,
    too_fast: ({ gap }) => `It was only ${gap} before, less than the minimum time that the rules require.`,
    impressions_off: () => "This app's rules do not count impressions.",
    flagged: ({ flags }) => `It is flagged (${flags}), and this app's rules do not let flagged touches win.`,
  },
  flags: {
    flood_address: "too many touches from one address",
    flood_device: "too many touches from one device",
    future: "timestamp in the future",
    datacentre: "from a data centre",
    short_gap: "registration too soon after the touch",
    even_gaps: "registrations from this ad too evenly spaced",
    many_clients: "too many users on one device",
  },
  keys: {
    click_key: "click ID",
    oaid: "OAID",
    imei: "IMEI",
    idfa: "IDFA",
    idfv: "IDFV",
    android_id: "Android ID",
    mac: "MAC",
    caid: "CAID",
    wx_openid: "open ID",
    ip_ua: "IP and device model",
  },
  kinds: { click: "Click", impression: "Impression" },
  units: { d: " d", h: " h", m: " min", s: " s", ms: " ms" },
};

const zh: AttributionTexts = {
  methods: {
    click_key: "点击 ID",
    device_id: "设备 ID",
    open_id: "Open ID",
    launch_query: "启动参数",
    ip_ua: "IP 与机型",
    reported: "调用方上报",
    "": "无",
  },
  outcomes: {
    won: "归因成功",
    reported_stands: "以上报为准",
    earlier_method_won: "有更可靠的匹配",
    click_won: "点击优先",
    later_touch_won: "有更晚的触点",
    greater_id_won: "时间相同",
    after_registration: "晚于注册",
    outside_window: "超出窗口期",
    too_fast: "间隔过短",
    impressions_off: "曝光不参与",
    flagged: "异常触点",
  },
  reasons: {
    won: ({ isClick, gap, window }) =>
      `以此${isClick ? "点击" : "曝光"}为准：发生在 ${gap}前，在 ${window}的窗口期内。`,
    reported_stands: () => "调用方已上报用户来源，以上报为准，不看触点。",
    earlier_method_won: ({ winner, method }) => `通过 ${method} 匹配，而 ${winner} 更可靠。`,
    click_won: () => "匹配方式相同时，点击优先于曝光。",
    later_touch_won: () => "匹配方式相同时，以最后一次触点为准，另一个触点更晚。",
    greater_id_won: () => "同一时刻还有另一个触点，按 ID 较大者取其一。",
    after_registration: () => "发生在注册之后，不可能带来该用户。",
    outside_window: ({ gap, window }) => `发生在 ${gap}前，而窗口期为 ${window}。`,
    too_fast: ({ gap }) => `发生在 ${gap}前，短于规则要求的最短间隔。`,
    impressions_off: () => "按此应用的规则，曝光不参与归因。",
    flagged: ({ flags }) => `被标记为异常（${flags}），按此应用的规则不能归因。`,
  },
  flags: {
    flood_address: "同一地址触点过多",
    flood_device: "同一设备触点过多",
    future: "时间晚于当前",
    datacentre: "来自数据中心",
    short_gap: "触点后过快注册",
    even_gaps: "该广告的用户注册间隔过于均匀",
    many_clients: "同一设备上用户过多",
  },
  keys: {
    click_key: "点击 ID",
    oaid: "OAID",
    imei: "IMEI",
    idfa: "IDFA",
    idfv: "IDFV",
    android_id: "Android ID",
    mac: "MAC",
    caid: "CAID",
    wx_openid: "Open ID",
    ip_ua: "IP 与机型",
  },
  kinds: { click: "点击", impression: "曝光" },
  units: { d: " 天", h: " 小时", m: " 分钟", s: " 秒", ms: " 毫秒" },
};

export const attributionTexts = { en, zh };
