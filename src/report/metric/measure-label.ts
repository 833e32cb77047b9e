import { COST_MEASURES, type Measure, USER_MEASURES } from "../../domain/cube.ts";

export type Label = { label: string; cname: string };

/** Labels of the sums that metrics are computed from. */
const PLAIN: Readonly<Record<string, Label>> = {
  cost_e4: { label: "Ad cost", cname: "消耗" },
  real_cost_e4: { label: "Real ad cost", cname: "实际消耗" },
  impressions: { label: "Ad impressions", cname: "曝光数" },
  clicks: { label: "Ad clicks", cname: "点击数" },
  users: { label: "Activations", cname: "激活数" },
  real_users: { label: "Real registrations", cname: "真实注册数" },
  register_users: { label: "Registrations", cname: "注册数" },
  active_users: { label: "Active users", cname: "活跃用户数" },
  payers: { label: "Payers", cname: "付费人数" },
  first_payers: { label: "First-time payers", cname: "首次付费人数" },
  ad_users: { label: "Ad viewers", cname: "变现广告用户数" },
  pay_cents: { label: "Payments", cname: "付费金额" },
  pay_count: { label: "Orders", cname: "付费次数" },
  ad_micros: { label: "Ad revenue", cname: "广告变现收入" },
  ad_reported_micros: { label: "Ad revenue, reported", cname: "广告变现收入（上报）" },
  ad_pulled_micros: { label: "Ad revenue, pulled", cname: "广告变现收入（平台）" },
  ad_estimated_micros: { label: "Ad revenue, estimated", cname: "广告变现收入（预估）" },
  ad_count: { label: "Ad views", cname: "变现广告展示次数" },
  refund_cents: { label: "Refunds", cname: "退款金额" },
  refund_count: { label: "Number of refunds", cname: "退款次数" },
  ruled_cents: { label: "Payments under share rules", cname: "按分成规则计的付费金额" },
  share_micros: { label: "Left of them by the rules", cname: "其分成后金额" },
  postbacks: { label: "Postbacks", cname: "回传数" },
  postback_cents: { label: "Postback amount", cname: "回传金额" },
};

const WHAT = {
  pay: { label: "Payments", cname: "付费金额" },
  ad: { label: "Ad revenue", cname: "广告变现收入" },
  ruled: { label: "Payments under share rules", cname: "按分成规则计的付费金额" },
  share: { label: "Left of them by the rules", cname: "其分成后金额" },
};

export const MEASURES: readonly Measure[] = [...COST_MEASURES, ...USER_MEASURES];

export function labelOf(measure: Measure): Label {
  const [, what, model, days] = /^(pay|ad|ruled|share)_([ds])(\d+)$/.exec(measure) ?? [];
  if (what !== undefined) {
    const { label, cname } = WHAT[what as keyof typeof WHAT];
    if (model === "s") {
      return { label: `${label}, ${Number(days) * 24} hours`, cname: `${Number(days) * 24}小时内${cname}` };
    }
    return {
      label: `${label}, ${days === "1" ? "first day" : `${days} days`}`,
      cname: `${days === "1" ? "首日" : `${days}日内`}${cname}`,
    };
  }
  const [, kept] = /^kept_(\d+)$/.exec(measure) ?? [];
  if (kept !== undefined) return { label: `Active on day ${kept}`, cname: `第${kept}日活跃人数` };
  const known = PLAIN[measure];
  if (!known) throw new Error(`The measure ${measure} has no label.`);
  return known;
}
