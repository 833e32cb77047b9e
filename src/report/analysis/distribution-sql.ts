import type { DistributionCell, DistributionQuestion } from "../../contract/analysis/distribution.ts";
import { LIMITS } from "../../limits.ts";
import { type Duck, duck, grouped, lines, named, type Table, withTables } from "./duck-sql.ts";
import { exactNumber } from "./field.ts";
import { readRange } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { exactNumeral, segmentTable } from "./segment-sql.ts";
import { checkSource, rowsOf } from "./source-sql.ts";
import { usersAmong } from "./users-sql.ts";

/** Users by a number of each of them: one row per bucket, and one without a bucket for all. */
export function distributionSql(question: DistributionQuestion): Duck {
  const edges = edgesOf(question);
  const cases = edges.map((edge, index) => duck`when value < ${exactNumeral(edge)} then ${index}`);
  const bucket = duck`case
  ${spaced(cases)}
  else ${edges.length}
end`;
  const columns = [
    duck`${bucket} as bucket`,
    duck`count(*) as users`,
    duck`cast(sum(value) as varchar) as total`,
    duck`cast(quantile_disc(value, 0.5) as varchar) as median`,
    duck`cast(min(value) as varchar) as least`,
    duck`cast(max(value) as varchar) as greatest`,
  ];
  const select = duck`select
  ${lines(columns)}
from amounts
group by grouping sets ((), (bucket))
order by bucket nulls first`;
  return withTables(amountTables(question), select);
}

/** The users behind a bucket. */
export function distributionUsersSql(question: DistributionQuestion, { from, until }: DistributionCell): Duck {
  const conditions = [
    ...(typeof from === "number" ? [duck`value >= ${exactNumeral(from)}`] : []),
    ...(typeof until === "number" ? [duck`value < ${exactNumeral(until)}`] : []),
  ];
  const where = conditions.length === 0 ? duck`true` : grouped(conditions, "and");
  return withTables(amountTables(question), usersAmong(duck`select client_id from amounts where ${where}`));
}

/** Where buckets begin. Without edges they are steps of 1, 2 and 5, so that they do not depend on what is counted. */
export function edgesOf({ edges, measure }: DistributionQuestion): readonly number[] {
  if (edges === undefined) return measure === "sum" ? SUM_EDGES : COUNT_EDGES;
  if (!Array.isArray(edges) || edges.length === 0) throw refused("edges is empty: add one, or leave it out.");
  if (edges.length > LIMITS.distributionEdges)
    throw refused(`There are more than ${LIMITS.distributionEdges} edges: use fewer.`);
  edges.forEach((edge, index) => {
    if (typeof edge !== "number") throw refused(`${shown(edge)} is not a number: edges must hold numbers.`);
    if (index > 0 && !(edge > edges[index - 1]!))
      throw refused(`edges must ascend: ${shown(edge)} is not above ${shown(edges[index - 1])}.`);
  });
  return edges;
}

const POWERS = Array.from({ length: 13 }, (_, power) => 10 ** power);
const STEPS = POWERS.flatMap((power) => [power, 2 * power, 5 * power]);
const SUM_EDGES = [0, ...STEPS];
/** 1 to 5 each, then up to and including 10, 20, 50, 100 … */
const COUNT_EDGES = [1, 2, 3, 4, 5, ...STEPS.filter((step) => step >= 5 && step <= 1e6).map((step) => step + 1)];

/** The table `amounts`: the number of each user. */
function amountTables(question: DistributionQuestion): Table[] {
  checkSource(question);
  const range = readRange(question.date_list);
  const value = valueSql(question);
  const rows = rowsOf({
    source: question,
    range,
    columns: [duck`e.client_id`, duck`${value} as value`],
    inSegment: question.segment !== undefined,
  });
  const amounts = duck`${rows}
group by e.client_id
having ${value} is not null`;
  return [...segmentTable(question.segment, range), { name: named("amounts"), of: amounts }];
}

function valueSql(question: DistributionQuestion): Duck {
  switch (question.measure) {
    case "times":
      return duck`count(*)`;
    case "days":
      return duck`count(distinct e."day")`;
    case "sum":
      return duck`sum(${exactNumber(question, question.source)})`;
    default:
      throw refused(`measure is ${shown(question.measure)}: use times, days or sum.`);
  }
}

function spaced(cases: readonly Duck[]): Duck {
  return cases.reduce(
    (text, one) => duck`${text}
${one}`,
  );
}
