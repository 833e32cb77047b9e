import type {
  RetentionAnswer,
  RetentionCell,
  RetentionGroup,
  RetentionQuestion,
} from "../../../src/contract/analysis/retention.ts";
import { addDays } from "../oracle-days.ts";
import { byBytes } from "./luck.ts";
import type { Market } from "./market.ts";
import {
  exactOf,
  type Fact,
  factsOf,
  isOfSource,
  numberOfExact,
  SCALE,
  textOfValue,
  valueOfField,
} from "./oracle-filter.ts";
import { membersOf } from "./oracle-segment.ts";

/** A user of a cohort, with what happened in each period. */
type Member = { client: string; cohort: string; group: string; periods: Fact[][] };

export function expectedRetention(market: Market, question: RetentionQuestion): RetentionAnswer {
  const members = membersIn(market, question);
  const cohorts = cohortsOf(question);
  const groupOf = (kind: RetentionGroup["kind"], group: string, own: readonly Member[]): RetentionGroup => ({
    kind,
    group,
    total: figuresOf(own, question),
    cohorts: cohorts.map((cohort) => ({
      cohort,
      ...figuresOf(
        own.filter((one) => one.cohort === cohort),
        question,
      ),
    })),
  });
  const all = groupOf("all", "", members);
  if (question.split === undefined) return { groups: [all] };
  const names = shownGroups(members, question.top ?? 10);
  const others = members.filter(({ group }) => !names.includes(group));
  return {
    groups: [
      all,
      ...names.map((name) =>
        groupOf(
          "group",
          name,
          members.filter(({ group }) => group === name),
        ),
      ),
      ...(others.length > 0 ? [groupOf("other", "", others)] : []),
    ],
  };
}

export function expectedRetentionUsers(market: Market, question: RetentionQuestion, cell: RetentionCell): string[] {
  const members = membersIn(market, question);
  const names = shownGroups(members, question.top ?? 10);
  return members
    .filter(({ cohort }) => cell.cohort === undefined || cohort === cell.cohort)
    .filter(({ periods }) => cell.period === undefined || periods[cell.period]!.length > 0)
    .filter(({ group }) =>
      cell.kind === "all" ? true : cell.kind === "group" ? group === cell.group : !names.includes(group),
    )
    .map(({ client }) => client)
    .sort(byBytes);
}

function shownGroups(members: readonly Member[], top: number): string[] {
  const size = (name: string) => members.filter(({ group }) => group === name).length;
  return [...new Set(members.map(({ group }) => group))]
    .sort((one, other) => size(other) - size(one) || byBytes(one, other))
    .slice(0, top);
}

function membersIn(market: Market, question: RetentionQuestion): Member[] {
  const { date_list, first, back, by, periods, split } = question;
  const isMember = membersOf(question.segment, date_list, market);
  const facts = factsOf(market).filter(({ client }) => isMember(client));
  return [...new Set(facts.map(({ client }) => client))].flatMap((client) => {
    const own = facts.filter((fact) => fact.client === client);
    const firsts = own
      .filter(({ day }) => day >= date_list[0]! && day <= date_list[1]!)
      .filter((fact) => isOfSource(first, fact, market));
    if (firsts.length === 0) return [];
    const firstMs = Math.min(...firsts.map(({ ms }) => ms));
    const atFirst = firsts.filter(({ ms }) => ms === firstMs);
    const groups = atFirst.map((fact) => (split === undefined ? "" : textOfValue(valueOfField(split, fact, market))));
    const cohort = startOf(atFirst[0]!.day, by);
    const returns = own.filter((fact) => fact.ms >= firstMs && isOfSource(back, fact, market));
    const periodOf = (fact: Fact) => daysFrom(cohort, startOf(fact.day, by)) / (by === "week" ? 7 : 1);
    return [
      {
        client,
        cohort,
        group: groups.sort(byBytes)[0]!,
        periods: Array.from({ length: periods + 1 }, (_, period) =>
          returns.filter((fact) => periodOf(fact) === period),
        ),
      },
    ];
  });
}

function figuresOf(members: readonly Member[], { periods, value }: RetentionQuestion): RetentionGroup["total"] {
  const numbers = Array.from({ length: periods + 1 }, (_, period) => period);
  const users = members.length;
  const returned = numbers.map((period) => members.filter((one) => one.periods[period]!.length > 0).length);
  if (!value) return { users, returned };
  const sums = numbers.map((period) => {
    const facts = members.flatMap((one) => one.periods[period]!);
    if (value.measure === "count") return BigInt(facts.length) * SCALE;
    return facts.reduce((sum, fact) => sum + (exactOf(value, fact) ?? 0n), 0n);
  });
  const upTo = (period: number) => sums.slice(0, period + 1).reduce((sum, one) => sum + one, 0n);
  const per_user = numbers.map((period) => (users === 0 ? null : numberOfExact(upTo(period)) / users));
  return { users, returned, values: sums.map(numberOfExact), per_user };
}

function startOf(day: string, by: "day" | "week"): string {
  return by === "day" ? day : addDays(day, -((new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7));
}

function daysFrom(one: string, other: string): number {
  return (Date.parse(other) - Date.parse(one)) / 86_400_000;
}

function cohortsOf({ date_list: [from = "", to = ""], by }: RetentionQuestion): string[] {
  const days = Array.from({ length: daysFrom(from, to) + 1 }, (_, index) => addDays(from, index));
  return [...new Set(days.map((day) => startOf(day, by)))];
}
