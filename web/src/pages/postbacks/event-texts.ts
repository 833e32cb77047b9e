import type {
  PostbackEventType,
  PresetMoment,
  ResendRefusal,
  SkipReason,
} from "../../../../src/contract/setting/postback.ts";
import { useTexts } from "../../texts.ts";

type EventTexts = {
  moments: Record<PresetMoment, string>;
  retention: (days: string) => string;
  ownEvent: (name: string) => string;
  eventTypes: Record<PostbackEventType, string>;
  own: { $attribution: string; $event: string };
  skips: Record<SkipReason, string>;
  refusals: Record<ResendRefusal, string>;
  statuses: [waiting: string, accepted: string, givenUp: string, skipped: string];
};

const texts: { en: EventTexts; zh: EventTexts } = {
  en: {
    moments: {
      activate: "First launch",
      register: "Registration",
      pay: "Every payment",
      first_pay: "First payment",
      first_day_pay: "First payment on the first day",
      ad_view: "Ad view (revenue so far)",
      each_ad: "Each ad (its own revenue)",
      return: "Lapsed user returns",
    },
    retention: (days) => (days === "1" ? "Active on the next day" : `Active ${days} days after registration`),
    ownEvent: (name) => `Event ${name}`,
    eventTypes: {
      activate: "Activation",
      register: "Registration",
      pay: "Payment",
      twice: "Next-day retention",
      key_active: "Key action",
      withdraw_iaa: "Short-term unsubscribe",
      create_role: "Role creation",
      login: "Login",
      customer_effective: "Effective customer",
      wx_launch: "Mini-program launch",
      re_active: "Key-page view",
      retention_2d: "Retention, day 2",
      retention_3d: "Retention, day 3",
      retention_4d: "Retention, day 4",
      retention_5d: "Retention, day 5",
      retention_6d: "Retention, day 6",
      retention_7d: "Retention, day 7",
      retention_14d: "Retention, day 14",
      retention_30d: "Retention, day 30",
      service_pay_success: "Service purchase",
      complete_order: "Order submitted",
      first_day_pay: "First-day payment",
      first_pay: "First payment",
      ad_quality: "Ad monetisation",
      game_action: "Game action",
      action_valid: "Valid action",
    },
    own: { $attribution: "Attribution callback", $event: "Event callback" },
    skips: {
      organic: "The user is organic",
      takes_none: "The platform does not accept postbacks",
      no_account: "No account for the platform",
      no_rule: "No matching rule",
      amount: "The amount is outside the rule's range",
      count: "Not the nth payment or ad view that the rule asks for",
      days_since_touch: "The days since the touch are outside the rule's range",
      property: "A property does not match the rule",
      late: "Reported more than three days late",
      window: "Outside the rule's window",
      share: "Left out by the rule's share",
    },
    refusals: {
      accepted: "already accepted",
      waiting: "already waiting",
      organic: "of organic users",
      takes_none: "to a platform that accepts none",
      no_account: "to a platform without an account",
      user_gone: "of erased users",
    },
    statuses: ["Waiting", "Accepted", "Failed", "Skipped"],
  },
  zh: {
    moments: {
      activate: "首次打开",
      register: "注册",
      pay: "每次付费",
      first_pay: "首次付费",
      first_day_pay: "首日首次付费",
      ad_view: "观看广告（累计收入）",
      each_ad: "每次广告（单次收入）",
      return: "流失用户回流",
    },
    retention: (days) => (days === "1" ? "次日再次活跃" : `注册后第 ${days} 天再次活跃`),
    ownEvent: (name) => `事件 ${name}`,
    eventTypes: {
      activate: "激活",
      register: "注册",
      pay: "付费",
      twice: "次留",
      key_active: "关键行为",
      withdraw_iaa: "短期退订",
      create_role: "创建角色",
      login: "登录",
      customer_effective: "有效获客",
      wx_launch: "小程序打开",
      re_active: "关键页面浏览",
      retention_2d: "2 日留存",
      retention_3d: "3 日留存",
      retention_4d: "4 日留存",
      retention_5d: "5 日留存",
      retention_6d: "6 日留存",
      retention_7d: "7 日留存",
      retention_14d: "14 日留存",
      retention_30d: "30 日留存",
      service_pay_success: "服务购买成功",
      complete_order: "提交订单",
      first_day_pay: "首日付费",
      first_pay: "首次付费",
      ad_quality: "广告变现",
      game_action: "游戏行为",
      action_valid: "有效行为",
    },
    own: { $attribution: "归因回调", $event: "事件回调" },
    skips: {
      organic: "自然量用户",
      takes_none: "该媒体不接收回传",
      no_account: "该媒体未配置账户",
      no_rule: "没有匹配的规则",
      amount: "金额不在规则范围内",
      count: "不是规则要求的第几次付费或广告",
      days_since_touch: "距触点天数不在规则范围内",
      property: "属性不满足规则",
      late: "上报延迟超过三天",
      window: "超出规则的窗口期",
      share: "扣量（不在回传比例内）",
    },
    refusals: {
      accepted: "媒体已接收",
      waiting: "已在等待发送",
      organic: "自然量用户",
      takes_none: "媒体不接收回传",
      no_account: "媒体未配置账户",
      user_gone: "用户已删除",
    },
    statuses: ["等待中", "成功", "失败", "已跳过"],
  },
};

/** Display names of moments, event types and reasons. A value without a name is shown as it is. */
export function useEventWords() {
  const text = useTexts(texts);
  const named = (table: Readonly<Record<string, string>>, name: string) => table[name];
  return {
    ...text,
    moment(name: string): string {
      const [, days] = /^retention_(\d+)$/.exec(name) ?? [];
      if (days !== undefined) return text.retention(days);
      return name.startsWith("event:") ? text.ownEvent(name.slice(6)) : (named(text.moments, name) ?? name);
    },
    eventType: (name: string) => named(text.eventTypes, name) ?? named(text.own, name) ?? name,
    reason: (reason: string) => named(text.skips, reason) ?? reason,
    refusal: (reason: string) => named(text.refusals, reason) ?? reason,
    status: (status: number) => text.statuses[status] ?? String(status),
  };
}

/** The badge colour of each status. */
export const TONES = ["accent", "good", "bad", "plain"] as const;
