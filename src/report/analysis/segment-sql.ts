import type { NumberOf } from "../../contract/analysis/question.ts";
import type {
  Comparison,
  Did,
  DidNot,
  Segment,
  SegmentCondition,
  SegmentQuestion,
  Within,
} from "../../contract/analysis/segment.ts";
import { addDays } from "../../domain/calendar.ts";
import { LIMITS } from "../../limits.ts";
import { type Duck, date, duck, grouped, named, type Table } from "./duck-sql.ts";
import { exactNumber, type Scope } from "./field.ts";
import { checkTree, conditionSql } from "./filter-sql.ts";
import { type Range, readRange } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { checkSource, rowsOf } from "./source-sql.ts";
import { usersAmong } from "./users-sql.ts";

/**
 * The users of a segment: those rows of users for which its conditions hold. A client without such a row is in none. The
 * days of a condition are its own, or reach back from the last day of the question, or are the question's.
 */
export function segmentSql(segment: Segment, range: Range): Duck {
  // Twice as deep as people may write: where saved segments were named, there are now trees of their own.
  checkTree(segment, -LIMITS.analysisDepth);
  return duck`select u.client_id
from users u
where ${treeSql(segment, range)}`;
}

/** The users of a segment, in order. */
export function segmentUsersSql({ segment, date_list, limit }: SegmentQuestion): Duck {
  return usersAmong(segmentSql(segment, readRange(date_list)), limit);
}

/** All users of a segment, each once, in order. */
export function segmentClientsSql({ segment, date_list }: Pick<SegmentQuestion, "segment" | "date_list">): Duck {
  return duck`select client_id
from (
  ${segmentSql(segment, readRange(date_list))}
)
group by client_id
order by client_id`;
}

/** The table `segment`, which sources refer to, or nothing. */
export function segmentTable(segment: Segment | undefined, range: Range): Table[] {
  return segment ? [{ name: named("segment"), of: segmentSql(segment, range) }] : [];
}

function treeSql(segment: Segment, range: Range): Duck {
  if (!("join" in segment)) return leafSql(segment, range);
  return grouped(
    segment.parts.map((part) => treeSql(part, range)),
    segment.join,
  );
}

function leafSql(condition: SegmentCondition, range: Range): Duck {
  switch (condition.kind) {
    case "did":
      return duck`u.client_id in (
  ${didSql(condition, range)}
)`;
    case "did_not":
      return duck`u.client_id not in (
  ${didNotSql(condition, range)}
)`;
    case "user":
      return conditionSql(condition, "user");
    case "registered": {
      const { fromDay, toDay } = withinOf(condition, range);
      return duck`u.registered_day between ${date(fromDay)} and ${date(toDay)}`;
    }
    case "saved":
      throw new Error("The saved segment was not looked up.");
    default:
      throw refused(`kind is ${shown((condition as { kind?: unknown }).kind)}: use did, did_not, user or registered.`);
  }
}

function didSql(condition: Did, range: Range): Duck {
  checkSource(condition);
  const rows = rowsOf({ source: condition, range: withinOf(condition, range), columns: [duck`e.client_id`] });
  return duck`${rows}
group by e.client_id
having ${compared(measureSql(condition), condition.operator, condition.values)}`;
}

function didNotSql(condition: DidNot, range: Range): Duck {
  checkSource(condition);
  return rowsOf({ source: condition, range: withinOf(condition, range), columns: [duck`e.client_id`] });
}

function measureSql({ measure, property, amount, source }: Did): Duck {
  switch (measure) {
    case "count":
      return duck`count(*)`;
    case "days":
      return duck`count(distinct e."day")`;
    case "sum":
      return sumSql({ property, amount }, source);
    default:
      throw refused(`measure is ${shown(measure)}: use count, days or sum.`);
  }
}

/** A sum in which rows without the number count as 0. */
function sumSql(number: NumberOf, scope: Scope): Duck {
  return duck`coalesce(sum(${exactNumber(number, scope)}), 0)`;
}

function compared(number: Duck, operator: Comparison, values: readonly number[]): Duck {
  if (!Array.isArray(values) || values.some((value) => typeof value !== "number"))
    throw refused("values must hold numbers.");
  if (values.length !== (operator === "between" ? 2 : 1))
    throw refused(operator === "between" ? "between takes two numbers." : `${operator} takes one number.`);
  const [one, other = one] = values.map(exactNumeral);
  switch (operator) {
    case "equal":
      return duck`${number} = ${one!}`;
    case "less":
      return duck`${number} < ${one!}`;
    case "at_most":
      return duck`${number} <= ${one!}`;
    case "greater":
      return duck`${number} > ${one!}`;
    case "at_least":
      return duck`${number} >= ${one!}`;
    case "between":
      return duck`${number} between ${one!} and ${other!}`;
    default:
      throw refused(
        `${shown(operator)} cannot compare numbers: use equal, less, at_most, greater, at_least or between.`,
      );
  }
}

/** A number with which exact sums are compared. As a double it could differ from a decimal that looks the same. */
export function exactNumeral(value: number): Duck {
  if (!Number.isFinite(value) || Math.abs(value) > 1e15) throw refused(`${value} is too large: use a smaller number.`);
  return duck`cast(${value.toFixed(6).replace(/\.?0+$/, "")} as decimal(38, 6))`;
}

function withinOf({ date_list, last_days }: Within, range: Range): Range {
  if (date_list !== undefined && last_days !== undefined) throw refused("Use date_list or last_days, not both.");
  if (date_list !== undefined) return readRange(date_list);
  if (last_days === undefined) return range;
  if (!Number.isInteger(last_days) || last_days < 1 || last_days > LIMITS.analysisDays)
    throw refused(`last_days is ${shown(last_days)}: use 1 to ${LIMITS.analysisDays}.`);
  return { fromDay: addDays(range.toDay, 1 - last_days), toDay: range.toDay };
}
