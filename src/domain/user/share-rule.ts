import { LIMITS } from "../../limits.ts";
import { addDays, isDay } from "../calendar.ts";
import { OPERATING_SYSTEMS } from "./operating-system.ts";

/**
 * What is left of certain payments after the store's cut. Of an app's rules, the first one that fits a payment counts;
 * without one, the app's `pay_share` does. A condition that is empty or null fits every payment.
 */
export type ShareRule = {
  /** Of the user. */
  osPlatform: string;
  channel: string;
  /** Of the payment: `$pay_method` and `$is_virtual`. */
  payMethod: string;
  isVirtual: boolean | null;
  /** The days of the order; null: no beginning or no end. */
  fromDay: string | null;
  untilDay: string | null;
  /** In ten-thousandths. */
  shareBp: number;
};

/** A rule as people write and read it. */
export type GivenShareRule = {
  os_platform: string;
  channel: string;
  pay_method: string;
  is_virtual: boolean | null;
  /** The first and the last day, both included; the empty text: no beginning or no end. */
  start_date: string;
  end_date: string;
  share: number;
};

const FULL_SHARE_BP = 10_000;
const SYSTEMS: readonly string[] = ["", ...OPERATING_SYSTEMS, "unknown"];

/** The rules in their order. Throws what is wrong with them. */
export function readShareRules(given: readonly GivenShareRule[]): ShareRule[] {
  if (given.length > LIMITS.shareRulesPerApp) {
    throw new Error(`an app can have at most ${LIMITS.shareRulesPerApp} share rules`);
  }
  const rules = given.map((rule, at) => readShareRule(rule, `rule ${at + 1}`));
  rules.forEach((rule, at) => {
    const before = rules.slice(0, at).findIndex((other) => clashes(other, rule));
    if (before >= 0) throw new Error(clashText({ rules, before, at }));
  });
  return rules;
}

function readShareRule(given: GivenShareRule, name: string): ShareRule {
  const { os_platform, channel, pay_method, is_virtual, start_date, end_date, share } = given;
  const isBadDay = (day: string) => day !== "" && !isDay(day);
  if (!SYSTEMS.includes(os_platform)) {
    throw new Error(`${name}: os_platform must be ${SYSTEMS.slice(1).join(", ")} or empty`);
  }
  if (isBadDay(start_date)) throw new Error(`${name}: start_date must look like 2026-11-15 or be empty`);
  if (isBadDay(end_date)) throw new Error(`${name}: end_date must look like 2026-11-15 or be empty`);
  if (start_date !== "" && end_date !== "" && end_date < start_date) {
    throw new Error(`${name}: end_date lies before start_date`);
  }
  return {
    osPlatform: os_platform,
    channel,
    payMethod: pay_method,
    isVirtual: is_virtual,
    fromDay: start_date || null,
    untilDay: end_date === "" ? null : addDays(end_date, 1),
    shareBp: shareBpOf(share, name),
  };
}

function shareBpOf(share: number, name: string): number {
  const bp = Math.round(share * FULL_SHARE_BP);
  const isExact = Math.abs(bp - share * FULL_SHARE_BP) < 1e-6;
  if (isExact && bp >= 0 && bp <= FULL_SHARE_BP) return bp;
  throw new Error(`${name}: share must be between 0 and 1, with at most 4 decimals`);
}

export function shownShareRule(rule: ShareRule): GivenShareRule {
  return {
    os_platform: rule.osPlatform,
    channel: rule.channel,
    pay_method: rule.payMethod,
    is_virtual: rule.isVirtual,
    start_date: rule.fromDay ?? "",
    end_date: rule.untilDay === null ? "" : addDays(rule.untilDay, -1),
    share: rule.shareBp / FULL_SHARE_BP,
  };
}

const CONDITIONS = ["osPlatform", "channel", "payMethod", "isVirtual"] as const;

/**
 * Whether two rules clash when `one` stands before `other`: they say two things about the same payments and days, or the
 * later one never counts. Otherwise the order decides, as it should: the special case first, the general one behind it.
 */
function clashes(one: ShareRule, other: ShareRule): boolean {
  if (!CONDITIONS.every((name) => one[name] === "" || one[name] === null || one[name] === other[name])) return false;
  return isSame(one, other) ? overlaps(one, other) : holds(one, other);
}

function isSame(one: ShareRule, other: ShareRule): boolean {
  return CONDITIONS.every((name) => one[name] === other[name]);
}

/** Days as texts compare in their order. */
const [FIRST_DAY, LAST_DAY] = ["0000-01-01", "9999-12-31"];
const fromOf = ({ fromDay }: ShareRule) => fromDay ?? FIRST_DAY;
const untilOf = ({ untilDay }: ShareRule) => untilDay ?? LAST_DAY;

function overlaps(one: ShareRule, other: ShareRule): boolean {
  return fromOf(one) < untilOf(other) && fromOf(other) < untilOf(one);
}

function holds(one: ShareRule, other: ShareRule): boolean {
  return fromOf(one) <= fromOf(other) && untilOf(one) >= untilOf(other);
}

function clashText({ rules, before, at }: { rules: readonly ShareRule[]; before: number; at: number }): string {
  const [one, other] = [rules[before]!, rules[at]!];
  const [first, second] = [before + 1, at + 1];
  if (!isSame(one, other)) return `rule ${second} never counts: rule ${first}, before it, fits the same payments`;
  return `rules ${first} and ${second} overlap: ${periodText(one)} and ${periodText(other)}, under the same conditions`;
}

function periodText(rule: ShareRule): string {
  const { start_date, end_date } = shownShareRule(rule);
  if (start_date === "") return end_date === "" ? "always" : `until ${end_date}`;
  return end_date === "" ? `from ${start_date} on` : `${start_date} to ${end_date}`;
}
