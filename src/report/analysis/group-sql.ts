import { LIMITS } from "../../limits.ts";
import { type Duck, duck } from "./duck-sql.ts";
import { refused, shown } from "./refusal.ts";

const TOP_DEFAULT = 10;

/** How many groups are shown. */
export function topOf(top: number = TOP_DEFAULT): number {
  if (Number.isInteger(top) && top >= 1 && top <= LIMITS.analysisGroups) return top;
  throw refused(`top is ${shown(top)}: use 1 to ${LIMITS.analysisGroups}.`);
}

/** The groups with the most rows of a table that has a row per user, in this order. */
export function shownGroups(table: Duck, top: number): Duck {
  return duck`select group_1, row_number() over (order by users desc, group_1) as place
from (
  select group_1, count(*) as users from ${table} group by group_1
)
order by place
limit ${top}`;
}

/** A condition on rows of users by the group that a cell of an answer names. It refers to the table `shown` for others. */
export function groupCondition(
  { kind, group }: { kind: "all" | "group" | "other"; group?: string },
  isSplit: boolean,
): Duck[] {
  if (kind === "all") return [];
  if (!isSplit) throw refused("The question is not split: ask for kind all.");
  if (kind === "group") return [duck`group_1 = ${group ?? ""}`];
  if (kind === "other") return [duck`group_1 not in (select group_1 from shown)`];
  throw refused(`kind is ${shown(kind)}: use all, group or other.`);
}
