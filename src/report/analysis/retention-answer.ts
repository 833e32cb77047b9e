import type { RetentionAnswer, RetentionGroup, RetentionQuestion } from "../../contract/analysis/retention.ts";
import { bucketsOf } from "./range.ts";
import { readRetention } from "./retention-sql.ts";
import { numberOrNull, type Row, textOr } from "./row.ts";

type Figures = RetentionGroup["total"];
type Group = { kind: RetentionGroup["kind"]; group: string; rows: readonly Row[] };

/** The answer, from the rows of `retentionSql`. */
export function retentionAnswer(question: RetentionQuestion, rows: readonly Row[]): RetentionAnswer {
  const { by, range } = readRetention(question);
  const cohorts = bucketsOf(by, range);
  return {
    groups: groupsOf(question, rows).map(({ kind, group, rows: own }) => {
      const byCohort = groupedBy(own, (row) => textOr(row.cohort, ""));
      return {
        kind,
        group,
        total: figuresOf(own, question),
        cohorts: cohorts.map((cohort) => ({ cohort, ...figuresOf(byCohort.get(cohort) ?? [], question) })),
      };
    }),
  };
}

function groupsOf({ split }: RetentionQuestion, rows: readonly Row[]): Group[] {
  const all: Group = { kind: "all", group: "", rows };
  if (split === undefined) return [all];
  const byPlace = [...groupedBy(rows, (row) => numberOrNull(row.place) ?? Number.POSITIVE_INFINITY)];
  const groups = byPlace
    .sort(([one], [other]) => one - other)
    .map(([place, own]): Group => {
      if (place === Number.POSITIVE_INFINITY) return { kind: "other", group: "", rows: own };
      return { kind: "group", group: textOr(own[0]!.group_1, ""), rows: own };
    });
  return [all, ...groups];
}

function groupedBy<Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups;
}

function figuresOf(rows: readonly Row[], { periods, value }: RetentionQuestion): Figures {
  let users = 0;
  const returned = Array<number>(periods + 1).fill(0);
  const sums = Array<Exact>(periods + 1).fill(0n);
  for (const row of rows) {
    const count = numberOrNull(row.users) ?? 0;
    const period = numberOrNull(row.period);
    if (period === null) users += count;
    else {
      returned[period]! += count;
      sums[period]! += exactOf(textOr(row.value, "0"));
    }
  }
  if (!value) return { users, returned };
  let sum: Exact = 0n;
  const cumulated = sums.map((one) => {
    sum += one;
    return users === 0 ? null : numberOf(sum) / users;
  });
  return { users, returned, values: sums.map(numberOf), per_user: cumulated };
}

/** A decimal number in millionths: sums of many cohorts stay exact. */
type Exact = bigint;
const PLACES = 6;

function exactOf(text: string): Exact {
  const [whole = "", decimals = ""] = text.split(".");
  return BigInt(whole + decimals.padEnd(PLACES, "0"));
}

function numberOf(exact: Exact): number {
  const digits = (exact < 0n ? -exact : exact).toString().padStart(PLACES + 1, "0");
  return Number(`${exact < 0n ? "-" : ""}${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`);
}
