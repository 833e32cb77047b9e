import { durationText, parseDuration } from "../duration.ts";
import { isNetwork } from "../network.ts";
import { APP_ONLY_RULES, DEFAULT_RULES, type Rules } from "./attribution-rules.ts";

export const RULE_KINDS = ["duration", "switch", "count", "networks"] as const;
export type RuleKind = (typeof RULE_KINDS)[number];

/** A rule as people and programs set it: its name, kind and meaning. This is the only list of them. */
export type RuleField = {
  name: string;
  rule: keyof Rules;
  takes: RuleKind;
  hint: string;
};

export const RULE_FIELDS: readonly RuleField[] = [
  {
    name: "click_window",
    rule: "clickWindowMs",
    takes: "duration",
    hint: "how old a click may be that is found by click key, device id or open id",
  },
  {
    name: "ip_ua_window",
    rule: "ipUaWindowMs",
    takes: "duration",
    hint: "how old a touch may be that is found by address and user agent",
  },
  { name: "impression_window", rule: "impressionWindowMs", takes: "duration", hint: "how old an impression may be" },
  { name: "impressions", rule: "impressions", takes: "switch", hint: "whether impressions count" },
  {
    name: "min_gap",
    rule: "gapMsMin",
    takes: "duration",
    hint: "minimum time between a touch and the registration it can bring",
  },
  {
    name: "flagged_may_win",
    rule: "flaggedMayWin",
    takes: "switch",
    hint: "whether a touch with a fraud flag may win",
  },
  {
    name: "flood_per_address",
    rule: "floodPerAddress",
    takes: "count",
    hint: "more touches of one address within an hour are flagged; 0: off",
  },
  {
    name: "flood_per_device",
    rule: "floodPerDevice",
    takes: "count",
    hint: "more touches of one device within an hour are flagged; 0: off",
  },
  {
    name: "short_gap",
    rule: "shortGapMs",
    takes: "duration",
    hint: "a registration sooner than this after a touch is flagged, when a download lies between",
  },
  {
    name: "datacentres",
    rule: "datacentres",
    takes: "networks",
    hint: "comma-separated networks whose touches are flagged",
  },
  {
    name: "reattribution",
    rule: "reattribution",
    takes: "switch",
    hint: "whether a returning user can be attributed again",
  },
  {
    name: "reclick_days",
    rule: "reclickDays",
    takes: "count",
    hint: "days after the last decision from which a new click wins a returning user",
  },
  {
    name: "reflux_days",
    rule: "refluxDays",
    takes: "count",
    hint: "days of silence after which any new touch wins a returning user",
  },
];

const WINDOW_MS_MAX = 90 * 86_400_000;
const COUNT_MAX = 1_000_000;
const NETWORKS_MAX = 10_000;

export function isAppOnly(field: RuleField): boolean {
  return APP_ONLY_RULES.includes(field.rule);
}

/**
 * The rules that can be tried on past decisions: those that weigh candidates. Flags and returns were settled with the
 * decision.
 */
const TRIABLE: readonly (keyof Rules)[] = [
  ...(["clickWindowMs", "ipUaWindowMs", "impressionWindowMs", "impressions", "gapMsMin", "flaggedMayWin"] as const),
];

export function isTriable(field: RuleField): boolean {
  return TRIABLE.includes(field.rule);
}

export function notTriable(name: string): string {
  return `${name} cannot be tried on decisions already made: the flags on their touches stay as they are.`;
}

/** The value of a rule, read from its text. The error says what was expected. */
export function readRule(field: RuleField, text: string): Rules[keyof Rules] {
  switch (field.takes) {
    case "duration": {
      const ms = parseDuration(text);
      if (ms !== undefined && ms <= WINDOW_MS_MAX) return ms;
      throw new Error(`${field.name} must be a duration such as 30m, 24h or 7d, at most 90d.`);
    }
    case "switch":
      if (text === "on" || text === "off") return text === "on";
      throw new Error(`${field.name} must be on or off.`);
    case "count":
      if (/^\d{1,7}$/.test(text) && Number(text) <= COUNT_MAX) return Number(text);
      throw new Error(`${field.name} must be a whole number up to ${COUNT_MAX}.`);
    case "networks": {
      const list = text.split(",").flatMap((part) => (part.trim() === "" ? [] : [part.trim()]));
      const bad = list.find((part) => !isNetwork(part));
      if (bad === undefined && list.length <= NETWORKS_MAX) return list;
      throw new Error(`${field.name}: ${JSON.stringify(bad ?? "…")} is not an address or a network.`);
    }
  }
}

export function ruleText(field: RuleField, value: Rules[keyof Rules]): string {
  switch (field.takes) {
    case "duration":
      return durationText(value as number);
    case "switch":
      return value === true ? "on" : "off";
    case "count":
      return String(value);
    case "networks":
      return (value as readonly string[]).join(",");
  }
}

/** Rules read from texts by their public names. `scope` is the platform; some rules are for the whole app only. */
export function readRules(texts: Readonly<Record<string, string>>, scope: string): Partial<Rules> {
  const rules: Partial<Record<keyof Rules, unknown>> = {};
  for (const [name, text] of Object.entries(texts)) {
    const field = RULE_FIELDS.find((candidate) => candidate.name === name);
    if (!field)
      throw new Error(`${JSON.stringify(name)} is not a rule: ${RULE_FIELDS.map((one) => one.name).join(", ")}.`);
    if (scope !== "" && isAppOnly(field)) throw new Error(`${name} is set for the whole app, not for one platform.`);
    rules[field.rule] = readRule(field, text);
  }
  return rules as Partial<Rules>;
}

export function ruleTexts(rules: Partial<Rules>): Record<string, string> {
  return Object.fromEntries(
    RULE_FIELDS.flatMap((field) => {
      const value = rules[field.rule];
      return value === undefined ? [] : [[field.name, ruleText(field, value)]];
    }),
  );
}

export const DEFAULT_RULE_TEXTS: Readonly<Record<string, string>> = ruleTexts(DEFAULT_RULES);
