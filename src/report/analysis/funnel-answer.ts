import type { FunnelAnswer, FunnelQuestion } from "../../contract/analysis/funnel.ts";
import { numberOrNull, type Row, textOr } from "./row.ts";

type Group = FunnelAnswer["groups"][number];

/** The answer, from the rows of `funnelSql`, which come in its order. */
export function funnelAnswer({ steps, split }: FunnelQuestion, rows: readonly Row[]): FunnelAnswer {
  return {
    groups: rows.map((row): Group => {
      const isAll = split === undefined || row.is_all === true;
      const kind = isAll ? "all" : row.place === null ? "other" : "group";
      return { kind, group: kind === "group" ? textOr(row.group_1, "") : "", steps: stepsOf(row, steps.length) };
    }),
  };
}

function stepsOf(row: Row, count: number): Group["steps"] {
  const users = Array.from({ length: count }, (_, index) => numberOrNull(row[`users_${index + 1}`]) ?? 0);
  return users.map((own, index) => {
    const before = users[index - 1] ?? own;
    const waited = numberOrNull(row[`waited_${index + 1}`]);
    return {
      users: own,
      dropped: own - (users[index + 1] ?? own),
      conversion: users[0] === 0 ? null : own / users[0]!,
      step_conversion: before === 0 ? null : own / before,
      average_ms: waited === null || own === 0 ? null : waited / own,
      median_ms: numberOrNull(row[`median_${index + 1}`]),
    };
  });
}
