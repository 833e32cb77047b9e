import { type Condition, type Filter, OPERATORS, type Operator } from "../../../src/contract/analysis/condition.ts";
import type { DistributionQuestion } from "../../../src/contract/analysis/distribution.ts";
import type { EventsQuestion, Series } from "../../../src/contract/analysis/events.ts";
import type { FunnelQuestion } from "../../../src/contract/analysis/funnel.ts";
import type { PathQuestion } from "../../../src/contract/analysis/path.ts";
import type { NumberOf, Source } from "../../../src/contract/analysis/question.ts";
import type { RetentionQuestion } from "../../../src/contract/analysis/retention.ts";
import type { Segment, SegmentCondition, Within } from "../../../src/contract/analysis/segment.ts";
import { addDays } from "../oracle-days.ts";
import type { Luck } from "./luck.ts";
import { EVENT_NAMES, type Market, PROPERTY_NAMES, TEXTS } from "./market.ts";
import type { Sum } from "./oracle-events.ts";

type Scope = "event" | "order" | "user";

const NUMERIC: readonly Operator[] = ["less", "at_most", "greater", "at_least"];

export function randomField(luck: Luck, scope: Scope): string {
  const kinds = {
    event: ["event", "event", "user", "column", "name"],
    order: ["event", "order", "user", "column", "name"],
  };
  switch (scope === "user" ? luck.of(["user", "column"]) : luck.of(kinds[scope])) {
    case "event":
      return `event$${luck.of(PROPERTY_NAMES)}`;
    case "user":
      return `user$${luck.of(PROPERTY_NAMES)}`;
    case "order":
      return `order$${luck.of(["pay_cents", "refund_cents", "net_cents", "pay_count", "currency", "is_virtual"])}`;
    case "name":
      return "event";
    default:
      return luck.of(["ad_platform", "gid", "channel", "version", "registered_day", "cohort_day", "os_platform"]);
  }
}

export function randomCondition(luck: Luck, scope: Scope): Condition {
  const field = randomField(luck, scope);
  const operator = luck.of(OPERATORS as readonly Operator[]);
  const isProperty = /^(event|user)\$/.test(field);
  const isNumber = isProperty || /^order\$(?!currency|is_virtual)|^version$/.test(field);
  const number = () => luck.of([0, 1, 5, 10, 0.1, 0.25, -3, 600, 12.345678, 1e15]);
  const text = () => luck.of([...TEXTS, "login", "natural", "CNY", "true", "5"]);
  if (NUMERIC.includes(operator))
    return isNumber ? { field, operator, values: [number()] } : { field, operator: "is_set" };
  switch (operator) {
    case "is_true":
    case "is_false":
      return isProperty || field === "order$is_virtual" ? { field, operator } : { field, operator: "not_set" };
    case "between":
      if (isNumber && luck.isTrue()) return { field, operator, values: [number(), number()] };
      return { field, operator, values: [text(), text()] };
    case "contains":
    case "starts_with":
      return { field, operator, values: luck.some(1, 2, () => text() || "1") };
    case "equal":
    case "not_equal":
      return { field, operator, values: luck.some(1, 3, () => (luck.isTrue() ? number() : text())) };
    default:
      return { field, operator };
  }
}

function randomTree<Leaf>(
  luck: Luck,
  leaf: () => Leaf,
  depth = 2,
): Leaf | { join: "and" | "or"; parts: (Leaf | never)[] } {
  if (depth === 0 || luck.isTrue(0.5)) return leaf();
  const parts = luck.some(1, 3, () => randomTree(luck, leaf, depth - 1)) as Leaf[];
  return { join: luck.of(["and", "or"]), parts };
}

export function randomSource(luck: Luck, filterShare = 0.5): Source {
  const source = luck.isTrue(0.8) ? "event" : "order";
  const event = source === "event" ? luck.maybe(() => luck.of(EVENT_NAMES), 0.75) : undefined;
  const filter = luck.maybe((): Filter => randomTree(luck, () => randomCondition(luck, source)), filterShare);
  return { source, ...(event !== undefined && { event }), ...(filter && { filter }) };
}

export function randomNumberOf(luck: Luck, { source }: Source): NumberOf {
  return source === "order" && luck.isTrue(0.8)
    ? { amount: luck.of(["pay_cents", "refund_cents", "net_cents"]) }
    : { property: luck.of(PROPERTY_NAMES) };
}

export function randomDays(luck: Luck, { fromDay, toDay }: Market): [string, string] {
  const length = (Date.parse(toDay) - Date.parse(fromDay)) / 86_400_000;
  const [one, other] = [luck.between(-1, length + 1), luck.between(-1, length + 1)];
  return [addDays(fromDay, Math.min(one, other)), addDays(fromDay, Math.max(one, other))];
}

function randomWithin(luck: Luck, market: Market): Within {
  switch (luck.below(3)) {
    case 0:
      return { date_list: randomDays(luck, market) };
    case 1:
      return { last_days: luck.between(1, 9) };
    default:
      return {};
  }
}

function randomSegmentCondition(luck: Luck, market: Market): SegmentCondition {
  const source = randomSource(luck, 0.3);
  const within = randomWithin(luck, market);
  switch (luck.below(5)) {
    case 0:
      return { kind: "user", ...randomCondition(luck, "user") };
    case 1:
      return { kind: "registered", ...within };
    case 2:
      return { kind: "did_not", ...source, ...within };
    default: {
      const measure = luck.of(["count", "days", "sum"] as const);
      const operator = luck.of(["equal", "less", "at_most", "greater", "at_least", "between"] as const);
      const values = luck
        .some(2, 2, () => luck.of([0, 1, 2, 3, 10, 0.25, 600, 3_600]))
        .slice(operator === "between" ? 0 : 1);
      const number = measure === "sum" ? randomNumberOf(luck, source) : {};
      return { kind: "did", ...source, ...within, measure, ...number, operator, values };
    }
  }
}

export function randomSegment(luck: Luck, market: Market): Segment {
  return randomTree(luck, () => randomSegmentCondition(luck, market)) as Segment;
}

function randomSeries(luck: Luck): Series {
  const source = randomSource(luck);
  const measure = luck.of(["count", "users", "per_user", "sum", "average", "percentile"] as const);
  if (measure === "count" || measure === "users" || measure === "per_user") return { ...source, measure };
  const percent = measure === "percentile" ? { percent: luck.of([0.1, 25, 50, 90, 99.9, 33.3]) } : {};
  return { ...source, measure, ...randomNumberOf(luck, source), ...percent };
}

export function randomSum(luck: Luck, letters: number, depth = 2): Sum {
  if (depth === 0 || luck.isTrue(0.3))
    return luck.isTrue(0.8) ? "ABCDEFGHIJ"[luck.below(letters)]! : luck.of([2, 100, 0.5]);
  const operator = luck.of(["+", "-", "*", "/"] as const);
  return [operator, randomSum(luck, letters, depth - 1), randomSum(luck, letters, depth - 1)];
}

export function textOfSum(sum: Sum): string {
  if (!Array.isArray(sum)) return String(sum);
  return `(${textOfSum(sum[1])} ${sum[0]} ${textOfSum(sum[2])})`;
}

export function randomEvents(
  luck: Luck,
  market: Market,
): { question: EventsQuestion; formulas: { text: string; sum: Sum }[] } {
  const series = luck.some(1, 3, () => randomSeries(luck));
  const date_list = randomDays(luck, market);
  const formulas = luck.some(0, 2, () => randomSum(luck, series.length)).map((sum) => ({ text: textOfSum(sum), sum }));
  // A field of orders would be refused for events.
  const scope = series.every(({ source }) => source === "order") ? "order" : "event";
  const split = luck.some(0, 2, () => randomField(luck, scope));
  const top = luck.maybe(() => luck.between(1, 4));
  const compare = luck.maybe(() => addDays(date_list[0], -luck.between(1, 8)), 0.3);
  const segment = luck.maybe(() => randomSegment(luck, market), 0.3);
  const question: EventsQuestion = {
    date_list,
    by: luck.of(["hour", "day", "week", "month", "total"]),
    series,
    ...(formulas.length > 0 && { formulas: formulas.map(({ text }) => text) }),
    ...(split.length > 0 && { split }),
    ...(top !== undefined && { top }),
    ...(compare !== undefined && { compare_date: compare }),
    ...(segment && { segment }),
  };
  return { question, formulas };
}

export function randomFunnel(luck: Luck, market: Market): FunnelQuestion {
  const steps = luck.some(2, 4, () => randomSource(luck, 0.2));
  const split = luck.maybe(() => randomField(luck, steps[0]!.source), 0.6);
  const top = luck.maybe(() => luck.between(1, 3));
  const segment = luck.maybe(() => randomSegment(luck, market), 0.2);
  return {
    date_list: randomDays(luck, market),
    steps,
    window_minutes: luck.of([1, 30, 60, 1_440, 3 * 1_440, 10 * 1_440]),
    ...(split !== undefined && { split }),
    ...(top !== undefined && { top }),
    ...(segment && { segment }),
  };
}

export function randomRetention(luck: Luck, market: Market): RetentionQuestion {
  const first = randomSource(luck, 0.2);
  const back = luck.isTrue(0.2) ? first : randomSource(luck, 0.2);
  const split = luck.maybe(() => randomField(luck, first.source), 0.6);
  const top = luck.maybe(() => luck.between(1, 3));
  const segment = luck.maybe(() => randomSegment(luck, market), 0.2);
  const value = luck.maybe((): RetentionQuestion["value"] =>
    luck.isTrue(0.3) ? { measure: "count" } : { measure: "sum", ...randomNumberOf(luck, back) },
  );
  return {
    date_list: randomDays(luck, market),
    by: luck.of(["day", "week"]),
    periods: luck.between(1, 8),
    first,
    back,
    ...(value && { value }),
    ...(split !== undefined && { split }),
    ...(top !== undefined && { top }),
    ...(segment && { segment }),
  };
}

export function randomDistribution(luck: Luck, market: Market): DistributionQuestion {
  const source = randomSource(luck, 0.3);
  const measure = luck.of(["times", "days", "sum"] as const);
  const edges = luck.maybe(() => [...new Set(luck.some(1, 4, () => luck.of([-5, 0, 0.25, 1, 2, 3, 10, 600, 3_000])))]);
  const segment = luck.maybe(() => randomSegment(luck, market), 0.2);
  return {
    date_list: randomDays(luck, market),
    ...source,
    measure,
    ...(measure === "sum" && randomNumberOf(luck, source)),
    ...(edges && { edges: edges.sort((one, other) => one - other) }),
    ...(segment && { segment }),
  };
}

export function randomPath(luck: Luck, market: Market): PathQuestion {
  const filter = luck.maybe((): Filter => randomTree(luck, () => randomCondition(luck, "event")), 0.3);
  const top = luck.maybe(() => luck.between(1, 4));
  const segment = luck.maybe(() => randomSegment(luck, market), 0.2);
  return {
    date_list: randomDays(luck, market),
    event: luck.of(EVENT_NAMES),
    ...(filter && { filter }),
    direction: luck.of(["after", "before"]),
    gap_minutes: luck.of([1, 30, 120, 1_440]),
    levels: luck.between(1, 4),
    ...(top !== undefined && { top }),
    ...(segment && { segment }),
  };
}
