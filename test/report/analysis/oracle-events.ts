import type { EventsAnswer, EventsCell, EventsQuestion, Series, Step } from "../../../src/contract/analysis/events.ts";
import { addDays, hourOf } from "../oracle-days.ts";
import { byBytes } from "./luck.ts";
import type { Market } from "./market.ts";
import { exactOf, type Fact, factsOf, isOfSource, numberOfExact, textOfValue, valueOfField } from "./oracle-filter.ts";
import { membersOf } from "./oracle-segment.ts";

/** Formulas of the tests as trees; their texts are parsed by the program, so the oracle needs no parser. */
export type Sum = number | string | [operator: "+" | "-" | "*" | "/", left: Sum, right: Sum];

/** The answer to a question by its definitions: every cell is counted from the list of what happened. */
export function expectedEvents(
  market: Market,
  question: EventsQuestion,
  formulas: readonly { text: string; sum: Sum }[],
): EventsAnswer {
  const known = factsFor(market, question);
  const { now, earlier, groups } = known;
  const { buckets, earlierBuckets } = bucketLists(question);
  const lines = groups.flatMap(({ group, is_other, facts }) => {
    const seriesOf = (days: Days, list: readonly string[]) =>
      question.series.map((series) => {
        const own = facts(series, days);
        const cell = (bucket: string) =>
          measured(
            series,
            own.filter((fact) => bucketOf(fact, question.by, market) === bucket),
          );
        return { total: measured(series, own), values: list.map(cell) };
      });
    const nows = seriesOf(now, buckets);
    const before = earlier && seriesOf(earlier, earlierBuckets!);
    const line = (name: string, values: Values, past: Values | undefined) => ({
      name,
      group,
      is_other,
      ...values,
      ...(past && { earlier: past }),
    });
    return [
      ...question.series.map((_, index) => line("ABCDEFGHIJ"[index]!, nows[index]!, before?.[index])),
      ...formulas.map(({ text, sum }) => line(text, computed(sum, nows), before && computed(sum, before))),
    ];
  });
  return { buckets, ...(earlierBuckets && { earlier_buckets: earlierBuckets }), lines };
}

/** The clients behind a number. */
export function expectedUsers(market: Market, question: EventsQuestion, cell: EventsCell): string[] {
  const { now, earlier, groups } = factsFor(market, question);
  const series = question.series[cell.series]!;
  const key = JSON.stringify(cell.group ?? []);
  const group = groups.find((one) =>
    cell.is_other ? one.is_other : !one.is_other && JSON.stringify(one.group) === key,
  );
  const facts = group?.facts(series, cell.is_earlier ? earlier! : now) ?? [];
  const isOfNumber = ["sum", "average", "percentile"].includes(series.measure);
  const behind = facts
    .filter((fact) => cell.bucket === undefined || bucketOf(fact, question.by, market) === cell.bucket)
    .filter((fact) => !isOfNumber || exactOf(series, fact) !== undefined);
  return [...new Set(behind.map(({ client }) => client))].sort(byBytes);
}

type Days = readonly [from: string, to: string];
type Values = { total: number | null; values: (number | null)[] };
type Group = { group: string[]; is_other: boolean; facts: (series: Series, days: Days) => Fact[] };

function factsFor(market: Market, question: EventsQuestion): { now: Days; earlier: Days | undefined; groups: Group[] } {
  const now: Days = [question.date_list[0]!, question.date_list[1]!];
  const length = dayCount(now) - 1;
  const { compare_date: first, split = [], top = 10 } = question;
  const earlier: Days | undefined = first === undefined ? undefined : [first, addDays(first, length)];
  const isMember = membersOf(question.segment, question.date_list, market);
  const all = factsOf(market).filter(({ client }) => isMember(client));
  const rowsOf = (series: Series, [from, to]: Days) =>
    all.filter(({ day }) => day >= from && day <= to).filter((fact) => isOfSource(series, fact, market));
  const groupOf = (fact: Fact) => split.map((field) => textOfValue(valueOfField(field, fact, market)));
  if (split.length === 0) return { now, earlier, groups: [{ group: [], is_other: false, facts: rowsOf }] };
  const keys = new Set(
    question.series.flatMap((series) => rowsOf(series, now).map((fact) => JSON.stringify(groupOf(fact)))),
  );
  const [first0] = question.series;
  const inGroup = (key: string) => (fact: Fact) => JSON.stringify(groupOf(fact)) === key;
  const ranked = [...keys]
    .map((key) => {
      const facts = rowsOf(first0!, now).filter(inGroup(key));
      return { key, rank: facts.length === 0 ? null : measured(first0!, facts) };
    })
    .sort((one, other) => byRank(one.rank, other.rank) || byGroup(JSON.parse(one.key), JSON.parse(other.key)))
    .slice(0, top)
    .map(({ key }) => key);
  const shown = ranked.map(
    (key): Group => ({
      group: JSON.parse(key),
      is_other: false,
      facts: (series, days) => rowsOf(series, days).filter(inGroup(key)),
    }),
  );
  const other: Group = {
    group: split.map(() => ""),
    is_other: true,
    facts: (series, days) => rowsOf(series, days).filter((fact) => !ranked.includes(JSON.stringify(groupOf(fact)))),
  };
  const days = earlier ? [now, earlier] : [now];
  const hasOther = question.series.some((series) => days.some((one) => other.facts(series, one).length > 0));
  return { now, earlier, groups: hasOther ? [...shown, other] : shown };
}

function byRank(one: number | null, other: number | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  return other - one;
}

function byGroup(one: readonly string[], other: readonly string[]): number {
  return one.map((text, index) => byBytes(text, other[index]!)).find((order) => order !== 0) ?? 0;
}

function measured(series: Series, facts: readonly Fact[]): number | null {
  const users = new Set(facts.map(({ client }) => client)).size;
  const numbers = () => facts.map((fact) => exactOf(series, fact)).filter((number) => number !== undefined);
  switch (series.measure) {
    case "count":
      return facts.length;
    case "users":
      return users;
    case "per_user":
      return users === 0 ? null : facts.length / users;
    case "sum":
      return numberOfExact(numbers().reduce((sum, number) => sum + number, 0n));
    case "average": {
      const all = numbers();
      return all.length === 0 ? null : numberOfExact(all.reduce((sum, number) => sum + number, 0n)) / all.length;
    }
    case "percentile": {
      const sorted = numbers().sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
      const tenths = Math.round(series.percent! * 10);
      const rank = Math.ceil((sorted.length * tenths) / 1_000);
      return sorted.length === 0 ? null : numberOfExact(sorted[rank - 1]!);
    }
  }
}

function computed(sum: Sum, series: readonly Values[]): Values {
  const at = (values: (number | null)[]) => {
    const value = worth(sum, values);
    // JSON has no negative zero.
    return value === 0 ? 0 : value;
  };
  const total = at(series.map((one) => one.total));
  return { total, values: series[0]!.values.map((_, index) => at(series.map((one) => one.values[index]!))) };
}

function worth(sum: Sum, values: readonly (number | null)[]): number | null {
  if (typeof sum === "number") return sum;
  if (typeof sum === "string") return values["ABCDEFGHIJ".indexOf(sum)]!;
  const [operator, left, right] = sum;
  const [one, other] = [worth(left, values), worth(right, values)];
  if (one === null || other === null) return null;
  if (operator === "/") return other === 0 ? null : one / other;
  return operator === "+" ? one + other : operator === "-" ? one - other : one * other;
}

function bucketOf(fact: Fact, by: Step, { zone }: Market): string {
  return by === "hour" ? `${fact.day} ${hourOf(fact.ms, zone)}:00` : bucketOfDay(fact.day, by);
}

function bucketOfDay(day: string, by: Step): string {
  if (by === "month") return day.slice(0, 7);
  if (by !== "week") return day;
  const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
  return addDays(day, -weekday);
}

function bucketLists({ by, date_list, compare_date }: EventsQuestion): {
  buckets: string[];
  earlierBuckets?: string[];
} {
  const count = dayCount([date_list[0]!, date_list[1]!]);
  const from = (first: string): string[] => {
    if (by === "total") return [];
    const days = Array.from({ length: count }, (_, index) => addDays(first, index));
    if (by === "hour")
      return days.flatMap((day) =>
        Array.from({ length: 24 }, (_, hour) => `${day} ${String(hour).padStart(2, "0")}:00`),
      );
    return [...new Set(days.map((day) => bucketOfDay(day, by)))];
  };
  return { buckets: from(date_list[0]!), ...(compare_date !== undefined && { earlierBuckets: from(compare_date) }) };
}

function dayCount([from, to]: Days): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
}
