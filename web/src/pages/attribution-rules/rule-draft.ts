import type { ShownRuleField, ShownRuleSettings } from "../../../../src/contract/setting/attribution-rule.ts";

/** The typed value of each rule; an empty text means not set here. */
export type RuleDraft = Readonly<Record<string, string>>;

export type Fallback = { from: "default" | "app"; value: string };

/** The rules set for the app (when `platform` is empty) or for one of its platforms. */
export function setRules(settings: ShownRuleSettings, platform: string): RuleDraft {
  return settings.set.find(({ ad_platform }) => ad_platform === platform)?.rules ?? {};
}

/** The value that applies when a rule is not set: the app's own, else the default. */
export function fallbackOf(settings: ShownRuleSettings, platform: string, name: string): Fallback {
  const ofApp = platform === "" ? undefined : setRules(settings, "")[name];
  return ofApp === undefined
    ? { from: "default", value: settings.defaults[name] ?? "" }
    : { from: "app", value: ofApp };
}

/** The rules to send, without those that are not set. */
export function rulesOf(draft: RuleDraft): Record<string, string> {
  const given = Object.entries(draft).map(([name, text]): [string, string] => [name, text.trim()]);
  return Object.fromEntries(given.filter(([, text]) => text !== ""));
}

/** The draft with every rule unset. */
export function withoutRules(draft: RuleDraft): RuleDraft {
  return Object.fromEntries(Object.keys(draft).map((name) => [name, ""]));
}

export function isSame(left: RuleDraft, right: RuleDraft): boolean {
  const [one, other] = [rulesOf(left), rulesOf(right)];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => one[name] === other[name]);
}

/** Whether the text looks like a value of this rule; the server has the last word. */
export function isGood({ takes }: ShownRuleField, text: string): boolean {
  if (text.trim() === "") return true;
  switch (takes) {
    case "duration":
      return /^(?:0|\d+(?:s|m|h|d))$/.test(text.trim());
    case "count":
      return /^\d{1,7}$/.test(text.trim());
    case "switch":
    case "networks":
      return true;
  }
}

const GROUP_OF: Readonly<Record<string, "fraud" | "returns">> = {
  flagged_may_win: "fraud",
  flood_per_address: "fraud",
  flood_per_device: "fraud",
  short_gap: "fraud",
  datacentres: "fraud",
  reattribution: "returns",
  reclick_days: "returns",
  reflux_days: "returns",
};

export const RULE_GROUPS = ["windows", "fraud", "returns"] as const;

export function fieldsOf(
  settings: ShownRuleSettings,
  platform: string,
  group: (typeof RULE_GROUPS)[number],
): ShownRuleField[] {
  return settings.fields.filter(
    ({ name, app_only }) => (GROUP_OF[name] ?? "windows") === group && (platform === "" || !app_only),
  );
}
