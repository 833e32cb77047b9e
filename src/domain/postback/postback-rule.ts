import { DAY_MS } from "../calendar.ts";
import { matchesProperty, type PropertyTest } from "../event/property-test.ts";
import type { JsonObject } from "../json.ts";
import { partOf } from "../money.ts";
import { md5 } from "../user/identity.ts";
import { POSTBACK_STATUS, type PostbackEventType } from "./postback.ts";

/** Bounds that include both ends; a missing end is open. */
export type Bounds = { min?: number; max?: number };

export type RuleConditions = {
  amountCents?: Bounds;
  /** The number of the payment, or of the ad view, for the user: n for the nth one. */
  count?: Bounds;
  /** Whole 24-hour days since the touch, or since the registration or return when the touch has no time. */
  daysSinceTouch?: Bounds;
  properties?: readonly PropertyTest[];
};

/** The value sent to the platform for an amount, rounded half away from zero to whole cents. */
export type RuleValue =
  | { kind: "as_is" }
  | { kind: "fixed"; cents: number }
  /** A share of the amount in ten-thousandths, up to the cap. */
  | { kind: "factor"; factorBp: number; capCents?: number };

/** A rule that decides when a platform is sent what. An empty platform or campaign matches any. */
export type PostbackRule = {
  ruleId: number;
  appId: number;
  adPlatform: string;
  campaignId: string;
  moment: string;
  eventType: PostbackEventType;
  /** The platform's own code, in place of the account's and the usual one; empty for those. */
  code: string;
  conditions: RuleConditions;
  /** The share to send in ten-thousandths, chosen by a hash: always the same ones, plus more when it is raised. */
  shareBp: number;
  value: RuleValue;
  /** Moments later than this after the touch are not sent. */
  windowDays: number;
  enabled: boolean;
};

/** A moment of a user that may be reported to platforms. */
export type Occurrence = {
  moment: string;
  atMs: number;
  /** The local day. */
  day: string;
  cents: number | null;
  /** See RuleConditions. */
  count: number | null;
  receivedAtMs: number;
  traceId: string;
  /** What distinguishes it from others of the same day, if each one is reported. */
  ownSubject?: string;
  /** The properties of the event or order. */
  properties: JsonObject;
  /** The user's properties at that time; absent when they are no longer known, and the present ones count. */
  userProperties?: JsonObject;
};

/** The user's fields that rules look at. */
export type JudgedUser = {
  clientId: string;
  adPlatform: string;
  campaignId: string;
  advertiserId: string;
  touchedAtMs: number | null;
  registeredAtMs: number;
  /** Above 1 when a return has won the user. */
  decisionNumber: number;
  returned: { atMs: number } | null;
  properties: JsonObject;
};

/** Why nothing is sent. */
export type SkipReason =
  | "organic"
  | "takes_none"
  | "no_account"
  | "no_rule"
  | "amount"
  | "count"
  | "days_since_touch"
  | "property"
  | "late"
  | "window"
  | "share";

/** A moment that we receive later than this after it happened is history, which platforms have no use for. */
export const LATE_MS = 3 * DAY_MS;

/** The verdict on a moment: to be sent (status 0, waiting), or skipped (status 3, with the reason). */
export type Judgement = {
  eventType: PostbackEventType;
  /** See PostbackRule. */
  code: string;
  /** The order, the ad, the day, or empty for the user as such, so that the same subject is reported once. */
  subject: string;
  status: typeof POSTBACK_STATUS.waiting | typeof POSTBACK_STATUS.skipped;
  reason: SkipReason | "";
  /** 0: no rule. */
  ruleId: number;
  cents: number | null;
};

/** Whether a platform can be reached: by an account, not without one, or never because it takes no postbacks. */
export type Reach = "account" | "no_account" | "takes_none";

/** Event types that are sent once per user, however often they happen. */
const ONCE: ReadonlySet<PostbackEventType> = new Set<PostbackEventType>([
  ...(["activate", "register", "twice", "retention_2d", "retention_3d", "retention_4d", "retention_5d"] as const),
  ...(["retention_6d", "retention_7d", "retention_14d", "retention_30d", "first_day_pay", "first_pay"] as const),
  "create_role",
]);

/**
 * Judges one moment of one user by the app's rules: one judgement for each event type that they name. When a campaign,
 * or else a platform, has its own rules for an event type, more general rules do not count; of the remaining ones the
 * first that fits decides.
 */
export function judge(
  occurrence: Occurrence,
  user: JudgedUser,
  { rules, reach }: { rules: readonly PostbackRule[]; reach: Reach },
): Judgement[] {
  const meant = rules.filter((rule) => rule.enabled && rule.moment === occurrence.moment);
  const skip = (eventType: PostbackEventType, reason: SkipReason, rule?: PostbackRule): Judgement => ({
    eventType,
    code: rule?.code ?? "",
    reason,
    ruleId: rule?.ruleId ?? 0,
    cents: null,
    subject: subjectOf(eventType, occurrence, rule?.code),
    status: POSTBACK_STATUS.skipped,
  });
  const types = [...new Set(meant.map((rule) => rule.eventType))];
  if (user.adPlatform === "")
    return (types.length > 0 ? types : typesWithout(occurrence)).map((type) => skip(type, "organic"));
  const own = meant.filter((rule) => specificity(rule, user) > 0);
  const ownTypes = [...new Set(own.map((rule) => rule.eventType))];
  if (ownTypes.length === 0) return typesWithout(occurrence).map((type) => skip(type, "no_rule"));
  if (reach !== "account") return ownTypes.map((type) => skip(type, reach));
  return ownTypes.map((eventType) => {
    const ofType = own.filter((rule) => rule.eventType === eventType);
    const tried = mostSpecific(ofType, user).map((rule) => ({ rule, obstacle: obstacleOf(rule, occurrence, user) }));
    const passed = tried.find(({ obstacle }) => obstacle === undefined);
    if (!passed) return skip(eventType, tried[0]!.obstacle!, tried[0]!.rule);
    const { code, ruleId } = passed.rule;
    return {
      eventType,
      code,
      reason: "" as const,
      ruleId,
      subject: subjectOf(eventType, occurrence, code),
      status: POSTBACK_STATUS.waiting,
      cents: toldCents(passed.rule.value, occurrence.cents),
    };
  });
}

/** The value that the rules would send for an amount, whatever their conditions; without a rule, the amount itself. */
export function toldAmount(
  rules: readonly PostbackRule[],
  about: { moment: string; eventType: string; cents: number | null },
  user: JudgedUser,
): number | null {
  const meant = rules.filter(
    (rule) =>
      rule.enabled && rule.moment === about.moment && rule.eventType === about.eventType && specificity(rule, user) > 0,
  );
  return toldCents(mostSpecific(meant, user)[0]?.value ?? { kind: "as_is" }, about.cents);
}

/** The most specific rules, in their order. */
function mostSpecific(rules: readonly PostbackRule[], user: JudgedUser): PostbackRule[] {
  const most = Math.max(...rules.map((rule) => specificity(rule, user)));
  return rules.filter((rule) => specificity(rule, user) === most);
}

/** Event types of a moment without a rule: an order shows as skipped, other moments leave no trace. */
function typesWithout({ moment }: Occurrence): PostbackEventType[] {
  return moment === "pay" ? ["pay"] : [];
}

/** How specific a rule is; 0 when it does not apply to the user. */
function specificity(rule: PostbackRule, user: JudgedUser): number {
  if (rule.adPlatform !== "" && rule.adPlatform !== user.adPlatform) return 0;
  if (rule.campaignId !== "" && rule.campaignId !== user.campaignId) return 0;
  return 1 + (rule.adPlatform === "" ? 0 : 1) + (rule.campaignId === "" ? 0 : 2);
}

/** Whether only a user's first one is sent. */
export function isToldOnce(eventType: PostbackEventType): boolean {
  return ONCE.has(eventType);
}

/** A rule's own code makes another conversion: a level and a quest of one day are both reported. */
export function subjectOf(
  eventType: PostbackEventType,
  { traceId, ownSubject, day }: Pick<Occurrence, "traceId" | "ownSubject" | "day">,
  code = "",
): string {
  const subject = ONCE.has(eventType) ? "" : traceId || (ownSubject ?? day);
  return code === "" ? subject : `${subject} ${code}`.trimStart();
}

function obstacleOf(rule: PostbackRule, occurrence: Occurrence, user: JudgedUser): SkipReason | undefined {
  const { conditions } = rule;
  if (occurrence.receivedAtMs - occurrence.atMs >= LATE_MS) return "late";
  const sinceTouchMs = occurrence.atMs - sourceSinceMs(user);
  if (sinceTouchMs >= rule.windowDays * DAY_MS) return "window";
  // A moment before the touch that won a user back is not its doing. For a first touch this does not apply: such a
  // moment comes from a clock that is slow.
  if (sinceTouchMs < 0 && user.decisionNumber > 1) return "window";
  if (!isWithin(occurrence.cents ?? 0, conditions.amountCents)) return "amount";
  if (!isWithin(occurrence.count ?? 0, conditions.count)) return "count";
  if (!isWithin(Math.floor(sinceTouchMs / DAY_MS), conditions.daysSinceTouch)) return "days_since_touch";
  const userProperties = occurrence.userProperties ?? user.properties;
  const holds = (test: PropertyTest) => matchesProperty(test, { user: userProperties, event: occurrence.properties });
  if (!(conditions.properties ?? []).every(holds)) return "property";
  return isInShare(rule, occurrence, user) ? undefined : "share";
}

/** When the source that holds has won the user. */
export function sourceSinceMs(
  user: Pick<JudgedUser, "touchedAtMs" | "registeredAtMs" | "decisionNumber" | "returned">,
): number {
  const { touchedAtMs, registeredAtMs, decisionNumber, returned } = user;
  return touchedAtMs ?? (decisionNumber > 1 ? returned?.atMs : undefined) ?? registeredAtMs;
}

function isWithin(value: number, bounds: Bounds | undefined): boolean {
  return value >= (bounds?.min ?? Number.NEGATIVE_INFINITY) && value <= (bounds?.max ?? Number.POSITIVE_INFINITY);
}

/** Hashes the content and not the rule, so that a recreated rule chooses the same ones. */
function isInShare({ shareBp, eventType }: PostbackRule, occurrence: Occurrence, { clientId }: JudgedUser): boolean {
  if (shareBp >= 10_000) return true;
  const hash = md5(`share\n${clientId}\n${eventType}\n${subjectOf(eventType, occurrence)}`);
  return Number.parseInt(hash.slice(0, 8), 16) % 10_000 < shareBp;
}

function toldCents(value: RuleValue, cents: number | null): number | null {
  switch (value.kind) {
    case "as_is":
      return cents;
    case "fixed":
      return value.cents;
    case "factor": {
      if (cents === null) return null;
      const part = partOf(cents, value.factorBp);
      return value.capCents === undefined ? part : Math.min(part, value.capCents);
    }
  }
}

/** The rules that a new app starts with, for every platform. */
export const DEFAULT_RULES: readonly Pick<PostbackRule, "moment" | "eventType">[] = [
  { moment: "activate", eventType: "activate" },
  { moment: "register", eventType: "register" },
  { moment: "pay", eventType: "pay" },
  { moment: "retention_1", eventType: "twice" },
];

export const DEFAULT_WINDOW_DAYS = 30;
