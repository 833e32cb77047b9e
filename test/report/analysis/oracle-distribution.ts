import type {
  DistributionAnswer,
  DistributionCell,
  DistributionQuestion,
} from "../../../src/contract/analysis/distribution.ts";
import { byBytes } from "./luck.ts";
import type { Market } from "./market.ts";
import { exactOf, type Fact, factsOf, isOfSource, numberOfExact, SCALE } from "./oracle-filter.ts";
import { membersOf } from "./oracle-segment.ts";

const COUNT_EDGES = [
  ...[1, 2, 3, 4, 5, 6, 11, 21, 51, 101, 201, 501, 1_001, 2_001, 5_001, 10_001, 20_001, 50_001],
  ...[100_001, 200_001, 500_001, 1_000_001],
];
const SUM_EDGES = [0, ...Array.from({ length: 39 }, (_, index) => [1, 2, 5][index % 3]! * 10 ** Math.floor(index / 3))];

export function expectedDistribution(market: Market, question: DistributionQuestion): DistributionAnswer {
  const amounts = [...amountsOf(market, question).values()].sort((one, other) =>
    one < other ? -1 : one > other ? 1 : 0,
  );
  const edges = question.edges ?? (question.measure === "sum" ? SUM_EDGES : COUNT_EDGES);
  const all = [null, ...edges, null].slice(0, -1).map((from, index) => {
    const until = edges[index] ?? null;
    return { from, until, users: amounts.filter((amount) => isIn(amount, { from, until })).length };
  });
  const used = all.map(({ users }) => users > 0);
  const trimmed = all.slice(used.indexOf(true) < 0 ? all.length : used.indexOf(true), used.lastIndexOf(true) + 1);
  const at = (index: number) => (amounts.length === 0 ? null : numberOfExact(amounts.at(index)!));
  const sum = numberOfExact(amounts.reduce((one, other) => one + other, 0n));
  return {
    users: amounts.length,
    average: amounts.length === 0 ? null : sum / amounts.length,
    median: at(Math.ceil(amounts.length / 2) - 1),
    least: at(0),
    greatest: at(-1),
    buckets: question.edges ? all : trimmed,
  };
}

export function expectedDistributionUsers(
  market: Market,
  question: DistributionQuestion,
  cell: DistributionCell,
): string[] {
  return [...amountsOf(market, question)]
    .filter(([, amount]) => isIn(amount, cell))
    .map(([client]) => client)
    .sort(byBytes);
}

function isIn(amount: bigint, { from, until }: DistributionCell): boolean {
  const value = numberOfExact(amount);
  return (typeof from !== "number" || value >= from) && (typeof until !== "number" || value < until);
}

function amountsOf(market: Market, question: DistributionQuestion): Map<string, bigint> {
  const [from = "", to = ""] = question.date_list;
  const isMember = membersOf(question.segment, question.date_list, market);
  const facts = factsOf(market).filter(
    (fact) => isMember(fact.client) && fact.day >= from && fact.day <= to && isOfSource(question, fact, market),
  );
  const amounts = new Map<string, bigint>();
  for (const client of new Set(facts.map((fact) => fact.client))) {
    const amount = amountOf(
      question,
      facts.filter((fact) => fact.client === client),
    );
    if (amount !== undefined) amounts.set(client, amount);
  }
  return amounts;
}

function amountOf(question: DistributionQuestion, facts: readonly Fact[]): bigint | undefined {
  if (question.measure === "times") return BigInt(facts.length) * SCALE;
  if (question.measure === "days") return BigInt(new Set(facts.map(({ day }) => day)).size) * SCALE;
  const numbers = facts.map((fact) => exactOf(question, fact)).filter((number) => number !== undefined);
  return numbers.length === 0 ? undefined : numbers.reduce((sum, number) => sum + number, 0n);
}
