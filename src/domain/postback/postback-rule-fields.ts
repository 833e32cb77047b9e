import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { DAY_MS } from "../calendar.ts";
import { parseDuration } from "../duration.ts";
import { type PropertyTest, propertyTestProblem } from "../event/property-test.ts";
import { assertShallow, type JsonValue, parseJson } from "../json.ts";
import { NOT_TOLD, REFUND_EVENT } from "../refund.ts";
import { COUNTED_MOMENTS, isMoment, PRESET_MOMENTS } from "./moment-name.ts";
import { POSTBACK_EVENT_TYPES, type PostbackEventType } from "./postback.ts";
import { type Bounds, DEFAULT_WINDOW_DAYS, type PostbackRule, type RuleValue } from "./postback-rule.ts";

/** The content of a rule, without its ids. */
export type RuleParts = Omit<PostbackRule, "ruleId" | "appId">;

type Draft = { -readonly [K in keyof RuleParts]: RuleParts[K] };

export type RuleFieldName =
  | ("ad_platform" | "turbo_promoted_object_id" | "moment" | "event_type" | "code" | "amount" | "count")
  | ("days_since_touch" | "share" | "value" | "window" | "enabled");

/** A part of a rule as people and programs set it: its name, text and meaning. This is the only list of them. */
export type PostbackRuleField = {
  name: RuleFieldName;
  hint: string;
  /** Reads a text into the rule; the error says what was expected. */
  read: (rule: Draft, text: string) => void;
  text: (rule: RuleParts) => string;
};

const AMOUNT_MAX = 1_000_000_000_000;
const COUNT_MAX = 1_000_000;
const DAYS_MAX = 365;
const FACTOR_BP_MAX = 1_000_000;

export const POSTBACK_RULE_FIELDS: readonly PostbackRuleField[] = [
  {
    name: "ad_platform",
    hint: "only for users of this platform; empty: of any",
    read: (rule, text) => (rule.adPlatform = text),
    text: (rule) => rule.adPlatform,
  },
  {
    name: "turbo_promoted_object_id",
    hint: "only for users of this campaign; empty: of any",
    read: (rule, text) => (rule.campaignId = text),
    text: (rule) => rule.campaignId,
  },
  {
    name: "moment",
    hint: `what happened: ${PRESET_MOMENTS.join(", ")}, retention_1 to retention_${LIMITS.retentionDays}, event:<name>`,
    read: (rule, text) => (rule.moment = readMoment(text)),
    text: (rule) => rule.moment,
  },
  {
    name: "event_type",
    hint: `the event that the platform receives: ${POSTBACK_EVENT_TYPES.join(", ")}`,
    read: (rule, text) => (rule.eventType = readEventType(text)),
    text: (rule) => rule.eventType,
  },
  {
    name: "code",
    hint: "the platform's own code, in place of the usual one: update_level; only with ad_platform",
    read: (rule, text) => (rule.code = readCode(text)),
    text: (rule) => rule.code,
  },
  {
    name: "amount",
    hint: "only amounts within these bounds, in cents: 600.., ..5000, 600..5000; empty: any",
    read: (rule, text) => setCondition(rule, "amountCents", readBounds("amount", text, AMOUNT_MAX)),
    text: (rule) => boundsText(rule.conditions.amountCents),
  },
  {
    name: "count",
    hint: "only the user's nth payment or ad view: 1, 1..3; empty: any",
    read: (rule, text) => setCondition(rule, "count", readBounds("count", text, COUNT_MAX)),
    text: (rule) => boundsText(rule.conditions.count),
  },
  {
    name: "days_since_touch",
    hint: "only within these whole days after the touch: 0..7; empty: any",
    read: (rule, text) => setCondition(rule, "daysSinceTouch", readBounds("days_since_touch", text, DAYS_MAX)),
    text: (rule) => boundsText(rule.conditions.daysSinceTouch),
  },
  {
    name: "share",
    hint: "the share to send, chosen by a stable hash: 80%",
    read: (rule, text) => (rule.shareBp = readShare(text)),
    text: (rule) => `${rule.shareBp / 100}%`,
  },
  {
    name: "value",
    hint: "the value to send: as-is, fixed:600, factor:0.5, factor:0.5,cap:10000",
    read: (rule, text) => (rule.value = readValue(text)),
    text: (rule) => valueText(rule.value),
  },
  {
    name: "window",
    hint: "moments later than this after the touch are not sent: 30d",
    read: (rule, text) => (rule.windowDays = readWindow(text)),
    text: (rule) => `${rule.windowDays}d`,
  },
  {
    name: "enabled",
    hint: "on or off",
    read: (rule, text) => (rule.enabled = readSwitch("enabled", text)),
    text: (rule) => (rule.enabled ? "on" : "off"),
  },
];

/** Texts by name, and property tests, each as a text or as an object. Absent fields stay as they are. */
export type GivenRule = Readonly<Record<string, unknown>> & { properties?: readonly unknown[] };

const BLANK: RuleParts = {
  adPlatform: "",
  campaignId: "",
  moment: "",
  eventType: "pay",
  code: "",
  conditions: {},
  shareBp: 10_000,
  value: { kind: "as_is" },
  windowDays: DEFAULT_WINDOW_DAYS,
  enabled: true,
};

/** A new rule, or the `known` one with changes. */
export function readPostbackRule(given: GivenRule, known?: RuleParts): RuleParts {
  const rule: Draft = { ...(known ?? BLANK), conditions: { ...known?.conditions } };
  if (!known)
    for (const name of ["moment", "event_type"]) if (given[name] === undefined) throw bad(`${name} is missing.`);
  for (const { name, read } of POSTBACK_RULE_FIELDS) {
    const text = given[name];
    if (typeof text === "string") read(rule, text.trim());
  }
  if (given.properties !== undefined) setCondition(rule, "properties", readProperties(given.properties));
  if (rule.code !== "" && rule.adPlatform === "") throw bad("code is one platform's: name it as ad_platform.");
  const isCounted = COUNTED_MOMENTS.includes(rule.moment);
  if (!isCounted && (rule.conditions.amountCents || rule.conditions.count)) {
    throw bad(`amount and count apply only to the moments ${COUNTED_MOMENTS.join(", ")}; ${rule.moment} has neither.`);
  }
  return rule;
}

export type PostbackRuleTexts = Record<RuleFieldName, string> & { properties: string[] };

/** A rule as texts that readPostbackRule accepts. */
export function postbackRuleTexts(rule: RuleParts): PostbackRuleTexts {
  const texts = POSTBACK_RULE_FIELDS.map(({ name, text }) => [name, text(rule)] as const);
  return {
    ...(Object.fromEntries(texts) as Record<RuleFieldName, string>),
    properties: (rule.conditions.properties ?? []).map(propertyText),
  };
}

function setCondition<K extends keyof RuleParts["conditions"]>(
  rule: Draft,
  name: K,
  value: RuleParts["conditions"][K] | undefined,
): void {
  const { [name]: _, ...others } = rule.conditions;
  rule.conditions = value === undefined ? others : { ...others, [name]: value };
}

function readMoment(text: string): string {
  if (text === `event:${REFUND_EVENT}`) throw bad(`moment: ${NOT_TOLD}`);
  if (isMoment(text)) return text;
  throw bad(
    `moment must be one of ${PRESET_MOMENTS.join(", ")}, retention_1 to retention_${LIMITS.retentionDays}, or event: and the name of an event.`,
  );
}

function readEventType(text: string): PostbackEventType {
  const type = POSTBACK_EVENT_TYPES.find((known) => known === text);
  if (type) return type;
  throw bad(`event_type must be one of ${POSTBACK_EVENT_TYPES.join(", ")}.`);
}

/** Letters, digits and the signs that parts of a code are joined with. */
export function readCode(text: string): string {
  if (/^[\w.:-]{0,100}$/.test(text)) return text;
  throw bad("code must be at most 100 letters, digits and the signs . : _ -");
}

const BOUNDS = /^(?:(\d{1,15})|(\d{1,15})?\.\.(\d{1,15})?)$/;

function readBounds(name: string, text: string, max: number): Bounds | undefined {
  if (text === "" || text === "..") return undefined;
  const [, exact, from, to] = BOUNDS.exec(text) ?? [];
  const [low, high] = [exact ?? from, exact ?? to].map((end) => (end === undefined ? undefined : Number(end)));
  if (low === undefined && high === undefined)
    throw bad(`${name} must be bounds such as 1.., ..5 or 1..5, in whole numbers.`);
  if (Math.max(low ?? 0, high ?? 0) > max) throw bad(`${name} must not be more than ${max}.`);
  if (low !== undefined && high !== undefined && low > high) throw bad(`${name} must begin with the lower bound.`);
  return { ...(low !== undefined && { min: low }), ...(high !== undefined && { max: high }) };
}

function boundsText(bounds: Bounds | undefined): string {
  if (!bounds) return "";
  return bounds.min === bounds.max ? String(bounds.min) : `${bounds.min ?? ""}..${bounds.max ?? ""}`;
}

function readShare(text: string): number {
  const [, whole, part = ""] = /^(\d{1,3})(?:\.(\d{1,2}))?\s?%$/.exec(text) ?? [];
  const bp = Number(whole) * 100 + Number(part.padEnd(2, "0"));
  if (whole !== undefined && bp <= 10_000) return bp;
  throw bad("share must be from 0% to 100%, with at most two decimals.");
}

function readValue(text: string): RuleValue {
  if (text === "as-is") return { kind: "as_is" };
  const [, fixed, whole, part = "", cap] =
    /^(?:fixed:(\d{1,12})|factor:(\d{1,3})(?:\.(\d{1,4}))?(?:,cap:(\d{1,12}))?)$/.exec(text) ?? [];
  if (fixed !== undefined) return { kind: "fixed", cents: Number(fixed) };
  const factorBp = Number(whole) * 10_000 + Number(part.padEnd(4, "0"));
  if (whole === undefined || factorBp < 1 || factorBp > FACTOR_BP_MAX) {
    throw bad(
      "value must be as-is, fixed:600, factor:0.5 or factor:0.5,cap:10000: whole cents, and a factor up to 100 with at most four decimals.",
    );
  }
  return { kind: "factor", factorBp, ...(cap !== undefined && { capCents: Number(cap) }) };
}

function valueText(value: RuleValue): string {
  switch (value.kind) {
    case "as_is":
      return "as-is";
    case "fixed":
      return `fixed:${value.cents}`;
    case "factor":
      return `factor:${value.factorBp / 10_000}${value.capCents === undefined ? "" : `,cap:${value.capCents}`}`;
  }
}

function readWindow(text: string): number {
  const days = (parseDuration(text) ?? 0) / DAY_MS;
  if (Number.isInteger(days) && days >= 1 && days <= DAYS_MAX) return days;
  throw bad(`window must be whole days such as 30d, from 1d to ${DAYS_MAX}d.`);
}

export function readSwitch(name: string, text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw bad(`${name} must be on or off.`);
}

/** Reads property tests. Empty texts are ignored, so that all tests can be removed where only texts can be given. */
function readProperties(given: readonly unknown[]): PropertyTest[] | undefined {
  const tests = given.filter((one) => one !== "").map(readPropertyTest);
  if (tests.length > LIMITS.propertyTestsPerRule) {
    throw bad(`properties must be at most ${LIMITS.propertyTestsPerRule} tests.`);
  }
  if (Buffer.byteLength(JSON.stringify(tests)) > LIMITS.propertyBytes) throw bad("properties are too long.");
  return tests.length === 0 ? undefined : tests;
}

/** `event$product equal "gold"`, or an object of field, operator and values, also as JSON. */
function readPropertyTest(given: unknown): PropertyTest {
  const read = typeof given === "string" ? propertyTestOf(given) : given;
  const test = typeof read === "object" && read !== null ? { values: [], ...read } : read;
  const problem = propertyTestProblem(test);
  if (problem !== undefined) throw bad(`properties: ${problem}`);
  const { field, operator, values } = test as PropertyTest;
  assertShallow(values as JsonValue, "properties");
  return { field, operator, values };
}

function propertyTestOf(text: string): unknown {
  if (/^\s*\{/.test(text)) return jsonOf(text);
  const [, field = "", operator = "", values = ""] = /^\s*(\S+)\s*(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  return { field, operator, values: jsonOf(`[${values}]`) };
}

function jsonOf(text: string): JsonValue {
  try {
    return parseJson(Buffer.from(text));
  } catch {
    throw bad('properties: values are written as in JSON, texts in quotes: event$product equal "gold".');
  }
}

function propertyText({ field, operator, values }: PropertyTest): string {
  return [field, operator, values.map((value) => JSON.stringify(value)).join(",")].join(" ").trimEnd();
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
