import { DAY_MS } from "../calendar.ts";
import { matchesProperty, type PropertyTest } from "../event/property-test.ts";
import type { JsonObject } from "../json.ts";
import { partOf } from "../money.ts";
import { md5 } from "../user/identity.ts";
import { POSTBACK_STATUS, type PostbackEventType } from "./postback.ts";

/** Moments that every app has; `retention_<n>` (the first activity n days after) and `event:<name>` come beside them. */
export const PRESET_MOMENTS = [
  "activate",
  "register",
  "pay",
  "first_pay",
  "first_day_pay",
  "ad_view",
  "return",
] as const;

const RETENTION = /^retention_([1-9]\d{0,2})$/;
const OWN_EVENT = /^event:([A-Za-z$][A-Za-z0-9_$]{0,49})$/;

/** Later than this after the registration nobody is told of an activity. */
export const RETENTION_DAYS_MAX = 365;

export function isMoment(text: string): boolean {
  if ((PRESET_MOMENTS as readonly string[]).includes(text) || OWN_EVENT.test(text)) return true;
  return (retentionDaysOf(text) ?? Number.POSITIVE_INFINITY) <= RETENTION_DAYS_MAX;
}

/** Of these an amount and a count are known. */
export const COUNTED_MOMENTS: readonly string[] = ["pay", "first_pay", "first_day_pay", "ad_view"];

/** After how many days the moment fires; undefined for every other moment. */
export function retentionDaysOf(moment: string): number | undefined {
  const days = RETENTION.exec(moment)?.[1];
  return days === undefined ? undefined : Number(days);
}

export function ownEventOf(moment: string): string | undefined {
  return OWN_EVENT.exec(moment)?.[1];
}

/** Both ends included; an end that is missing is open. */
export type Bounds = { min?: number; max?: number };

export type RuleConditions = {
  amountCents?: Bounds;
  /** The how-manieth payment of the user, or ad seen by the user. */
  count?: Bounds;
  /** Whole days of 24 hours since the touch, or since the registration or return where the touch has no time. */
  daysSinceTouch?: Bounds;
  properties?: readonly PropertyTest[];
};

/** What the platform is told of an amount. Rounded half away from zero to whole cents. */
export type RuleValue =
  | { kind: "as_is" }
  | { kind: "fixed"; cents: number }
  /** A share of it in ten-thousandths, and no more than the cap. */
  | { kind: "factor"; factorBp: number; capCents?: number };

/** When a platform is told what. The empty text for platform or campaign: any. */
export type PostbackRule = {
  ruleId: number;
  appId: number;
  adPlatform: string;
  turboPromotedObjectId: string;
  moment: string;
  eventType: PostbackEventType;
  conditions: RuleConditions;
  /** Of a hundred percent in ten-thousandths, chosen by a hash: the same ones every time, and more of them when raised. */
  shareBp: number;
  value: RuleValue;
  /** Moments later after the touch than this are not told. */
  windowDays: number;
  enabled: boolean;
};

/** Something that happened to a user, of which platforms may be told. */
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
  /** Of the event or order. */
  properties: JsonObject;
  /** Of the user, as they were when it happened; where that is not known any more, as they are. */
  userProperties?: JsonObject;
};

/** What a rule looks at of the user. */
export type JudgedUser = {
  clientId: string;
  adPlatform: string;
  turboPromotedObjectId: string;
  advertiserId: string;
  touchedAtMs: number | null;
  registeredAtMs: number;
  /** Over 1: a return has won the user for another source. */
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

/** What is told later than this after it happened is history, which platforms have no use for. */
export const LATE_MS = 3 * DAY_MS;

/** What a moment comes to: told (status 0, waiting), or not (status 3, with the reason). */
export type Judgement = {
  eventType: PostbackEventType;
  /** What it is about, so that the same is told once: the order, the day, or the user as such. */
  subject: string;
  status: typeof POSTBACK_STATUS.waiting | typeof POSTBACK_STATUS.skipped;
  reason: SkipReason | "";
  /** 0: no rule. */
  ruleId: number;
  cents: number | null;
};

/** How a platform can be reached for an app: an account, none yet, or it takes no postbacks at all. */
export type Reach = "account" | "no_account" | "takes_none";

/** Told of a user once, however often it happens. */
const ONCE: ReadonlySet<PostbackEventType> = new Set<PostbackEventType>([
  ...(["activate", "register", "twice", "retention_2d", "retention_3d", "retention_4d", "retention_5d"] as const),
  ...(["retention_6d", "retention_7d", "retention_14d", "retention_30d", "first_day_pay", "first_pay"] as const),
  "create_role",
]);

/**
 * Judges one moment of one user by the rules of the app: a judgement for each event type that its rules name. Where a
 * campaign, or else a platform, has rules of its own for an event type, the more general ones do not count there; of
 * those that are left, the first one that fits counts.
 */
export function judge(
  occurrence: Occurrence,
  user: JudgedUser,
  { rules, reach }: { rules: readonly PostbackRule[]; reach: Reach },
): Judgement[] {
  const meant = rules.filter((rule) => rule.enabled && rule.moment === occurrence.moment);
  const skip = (eventType: PostbackEventType, reason: SkipReason, ruleId = 0): Judgement => ({
    eventType,
    reason,
    ruleId,
    cents: null,
    subject: subjectOf(eventType, occurrence),
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
    if (!passed) return skip(eventType, tried[0]!.obstacle!, tried[0]!.rule.ruleId);
    return {
      eventType,
      reason: "" as const,
      ruleId: passed.rule.ruleId,
      subject: subjectOf(eventType, occurrence),
      status: POSTBACK_STATUS.waiting,
      cents: toldCents(passed.rule.value, occurrence.cents),
    };
  });
}

/** What a platform would be told of an amount by the rules, whatever their conditions; without a rule, the amount as it is. */
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

/** In the order in which they came. */
function mostSpecific(rules: readonly PostbackRule[], user: JudgedUser): PostbackRule[] {
  const most = Math.max(...rules.map((rule) => specificity(rule, user)));
  return rules.filter((rule) => specificity(rule, user) === most);
}

/** An order without a rule shows as skipped; nobody expects anything of other moments. */
function typesWithout({ moment }: Occurrence): PostbackEventType[] {
  return moment === "pay" ? ["pay"] : [];
}

/** 0: the rule is not about this user. */
function specificity(rule: PostbackRule, user: JudgedUser): number {
  if (rule.adPlatform !== "" && rule.adPlatform !== user.adPlatform) return 0;
  if (rule.turboPromotedObjectId !== "" && rule.turboPromotedObjectId !== user.turboPromotedObjectId) return 0;
  return 1 + (rule.adPlatform === "" ? 0 : 1) + (rule.turboPromotedObjectId === "" ? 0 : 2);
}

/** Whether a user's first one counts and every later one is the same again. */
export function isToldOnce(eventType: PostbackEventType): boolean {
  return ONCE.has(eventType);
}

export function subjectOf(eventType: PostbackEventType, { traceId, day }: Pick<Occurrence, "traceId" | "day">): string {
  if (ONCE.has(eventType)) return "";
  return traceId || day;
}

function obstacleOf(rule: PostbackRule, occurrence: Occurrence, user: JudgedUser): SkipReason | undefined {
  const { conditions } = rule;
  if (occurrence.receivedAtMs - occurrence.atMs >= LATE_MS) return "late";
  const sinceTouchMs = occurrence.atMs - sourceSinceMs(user);
  if (sinceTouchMs >= rule.windowDays * DAY_MS) return "window";
  // What came before the touch that won a user back is not its doing. A first touch has no such before: what seems to
  // lie there was told by a clock that is behind.
  if (sinceTouchMs < 0 && user.decisionNumber > 1) return "window";
  if (!isWithin(occurrence.cents ?? 0, conditions.amountCents)) return "amount";
  if (!isWithin(occurrence.count ?? 0, conditions.count)) return "count";
  if (!isWithin(Math.floor(sinceTouchMs / DAY_MS), conditions.daysSinceTouch)) return "days_since_touch";
  const userProperties = occurrence.userProperties ?? user.properties;
  const holds = (test: PropertyTest) => matchesProperty(test, { user: userProperties, event: occurrence.properties });
  if (!(conditions.properties ?? []).every(holds)) return "property";
  return isInShare(rule, occurrence, user) ? undefined : "share";
}

function sourceSinceMs({ touchedAtMs, registeredAtMs, decisionNumber, returned }: JudgedUser): number {
  return touchedAtMs ?? (decisionNumber > 1 ? returned?.atMs : undefined) ?? registeredAtMs;
}

function isWithin(value: number, bounds: Bounds | undefined): boolean {
  return value >= (bounds?.min ?? Number.NEGATIVE_INFINITY) && value <= (bounds?.max ?? Number.POSITIVE_INFINITY);
}

/** By what is told, not by the rule: a rule that is made anew chooses the same ones. */
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
