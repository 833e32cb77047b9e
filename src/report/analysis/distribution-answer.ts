import type { DistributionAnswer, DistributionQuestion } from "../../contract/analysis/distribution.ts";
import { edgesOf } from "./distribution-sql.ts";
import { numberOrNull, type Row } from "./row.ts";

/** The answer, from the rows of `distributionSql`. */
export function distributionAnswer(question: DistributionQuestion, rows: readonly Row[]): DistributionAnswer {
  const edges = edgesOf(question);
  const all = rows.find((row) => row.bucket === null);
  const users = numberOrNull(all?.users) ?? 0;
  const total = numberOrNull(all?.total);
  const counts = new Map(rows.map((row) => [numberOrNull(row.bucket), numberOrNull(row.users) ?? 0]));
  const buckets = Array.from({ length: edges.length + 1 }, (_, index) => ({
    from: edges[index - 1] ?? null,
    until: edges[index] ?? null,
    users: counts.get(index) ?? 0,
  }));
  return {
    users,
    average: total === null || users === 0 ? null : total / users,
    median: numberOrNull(all?.median),
    least: numberOrNull(all?.least),
    greatest: numberOrNull(all?.greatest),
    buckets: question.edges === undefined ? withoutEmptyEnds(buckets) : buckets,
  };
}

function withoutEmptyEnds(buckets: DistributionAnswer["buckets"]): DistributionAnswer["buckets"] {
  const first = buckets.findIndex(({ users }) => users > 0);
  return first < 0 ? [] : buckets.slice(first, buckets.findLastIndex(({ users }) => users > 0) + 1);
}
