import type { PostbackRule } from "../../../../src/contract/setting/postback.ts";

/** A rule as it is typed: amounts in major units, bounds as two fields, properties as lines. */
export type RuleDraft = {
  /** A preset moment, or one of the two kinds that need a further field: `retention` and `event`. */
  momentKind: string;
  retentionDays: string;
  eventName: string;
  eventType: string;
  /** Used only with a platform, whose code it is. */
  code: string;
  platform: string;
  campaign: string;
  amountFrom: string;
  amountTo: string;
  countFrom: string;
  countTo: string;
  daysFrom: string;
  daysTo: string;
  share: string;
  valueKind: "as-is" | "fixed" | "factor";
  fixed: string;
  factor: string;
  cap: string;
  window: string;
  properties: string;
  enabled: boolean;
};

export const RETENTION = "retention";
export const OWN_EVENT = "event";

/** Moments that have an amount and a count. */
export const COUNTED = ["pay", "first_pay", "first_day_pay", "ad_view", "each_ad"];

/** A rule in the server's field names. */
export type RuleFields = Omit<PostbackRule, "rule_id">;

export const NEW_RULE: RuleDraft = {
  momentKind: "pay",
  retentionDays: "1",
  eventName: "",
  eventType: "pay",
  code: "",
  platform: "",
  campaign: "",
  amountFrom: "",
  amountTo: "",
  countFrom: "",
  countTo: "",
  daysFrom: "",
  daysTo: "",
  share: "100",
  valueKind: "as-is",
  fixed: "",
  factor: "1",
  cap: "",
  window: "30",
  properties: "",
  enabled: true,
};

export function draftOf(rule: PostbackRule): RuleDraft {
  const [, retentionDays] = /^retention_(\d+)$/.exec(rule.moment) ?? [];
  const eventName = rule.moment.startsWith("event:") ? rule.moment.slice(6) : undefined;
  const [amountFrom, amountTo] = boundsOf(rule.amount);
  const [countFrom, countTo] = boundsOf(rule.count);
  const [daysFrom, daysTo] = boundsOf(rule.days_since_touch);
  const [, fixed] = /^fixed:(\d+)$/.exec(rule.value) ?? [];
  const [, factor, cap] = /^factor:([\d.]+)(?:,cap:(\d+))?$/.exec(rule.value) ?? [];
  return {
    momentKind: retentionDays !== undefined ? RETENTION : eventName !== undefined ? OWN_EVENT : rule.moment,
    retentionDays: retentionDays ?? "1",
    eventName: eventName ?? "",
    eventType: rule.event_type,
    code: rule.code,
    platform: rule.ad_platform,
    campaign: rule.turbo_promoted_object_id,
    amountFrom: majorText(amountFrom),
    amountTo: majorText(amountTo),
    countFrom,
    countTo,
    daysFrom,
    daysTo,
    share: rule.share.replace("%", ""),
    valueKind: fixed !== undefined ? "fixed" : factor !== undefined ? "factor" : "as-is",
    fixed: majorText(fixed ?? ""),
    factor: factor ?? "1",
    cap: majorText(cap ?? ""),
    window: rule.window.replace("d", ""),
    properties: rule.properties.join("\n"),
    enabled: rule.enabled === "on",
  };
}

/** Sends invalid input as typed: the server says what it expects. */
export function fieldsOf(draft: RuleDraft): RuleFields {
  const isCounted = COUNTED.includes(draft.momentKind);
  return {
    moment: momentOf(draft),
    event_type: draft.eventType,
    code: draft.platform === "" ? "" : draft.code.trim(),
    ad_platform: draft.platform,
    turbo_promoted_object_id: draft.campaign.trim(),
    amount: isCounted ? boundsText(centsText(draft.amountFrom), centsText(draft.amountTo)) : "",
    count: isCounted ? boundsText(draft.countFrom, draft.countTo) : "",
    days_since_touch: boundsText(draft.daysFrom, draft.daysTo),
    share: `${draft.share.trim()}%`,
    value: toldValue(draft),
    window: `${draft.window.trim()}d`,
    enabled: draft.enabled ? "on" : "off",
    properties: draft.properties
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  };
}

function momentOf({ momentKind, retentionDays, eventName }: RuleDraft): string {
  if (momentKind === RETENTION) return `retention_${retentionDays.trim()}`;
  return momentKind === OWN_EVENT ? `event:${eventName.trim()}` : momentKind;
}

function toldValue({ valueKind, fixed, factor, cap }: RuleDraft): string {
  switch (valueKind) {
    case "as-is":
      return "as-is";
    case "fixed":
      return `fixed:${centsText(fixed)}`;
    case "factor":
      return `factor:${factor.trim()}${cap.trim() === "" ? "" : `,cap:${centsText(cap)}`}`;
  }
}

function boundsOf(text: string): [from: string, to: string] {
  const [from = "", to] = text.split("..");
  return [from, to ?? from];
}

function boundsText(from: string, to: string): string {
  const [low, high] = [from.trim(), to.trim()];
  if (low === "" && high === "") return "";
  return low === high ? low : `${low}..${high}`;
}

/** Cents of an amount in major units: 6.5 becomes 650. */
function centsText(major: string): string {
  const [, whole, fraction = ""] = /^(\d{1,12})(?:\.(\d{1,2}))?$/.exec(major.trim()) ?? [];
  return whole === undefined ? major.trim() : String(Number(`${whole}${fraction.padEnd(2, "0")}`));
}

function majorText(cents: string): string {
  return cents === "" ? "" : String(Number(cents) / 100);
}
