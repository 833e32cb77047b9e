import { advertisersOf } from "../../db/ad-names.ts";
import { costRows } from "../../db/cost.ts";
import { cubeRows, distinctUsers, userRows } from "../../db/cube.ts";
import { keyOf } from "../../db/engine/column-name.ts";
import {
  allOf,
  type Executor,
  identifier,
  joined,
  listed,
  queryColumns,
  readBoth,
  type Sql,
  sql,
} from "../../db/engine/sql.ts";
import { registrationRows } from "../../db/hour.ts";
import type { UserRange } from "../../db/user-dimension.ts";
import {
  COHORTS_OF,
  COST_MEASURES,
  type Cohort,
  type CostMeasure,
  DISTINCT_MEASURES,
  type DistinctMeasure,
  type FineDimension,
  type Measure,
  type Sums,
  type UserMeasure,
} from "../../domain/cube.ts";
import { LIMITS } from "../../limits.ts";
import { type Dimension, isCubeDimension, isFineDimension } from "../metric/dimension.ts";
import type { AdReportRequest, ReportFilter } from "./ad-report-request.ts";

/** A row of a report: the values of its dimensions, in the requested order, and its sums. */
export type ReportRow = { values: string[]; sums: Sums };

type Question = Pick<
  AdReportRequest,
  "appId" | "fromDay" | "untilDay" | "dimensions" | "filter" | "reading" | "hours" | "cold"
>;

/** All rows of the report, with the sums of the measures. */
export async function querySums(
  executor: Executor,
  question: Question,
  measures: readonly Measure[],
): Promise<ReportRow[]> {
  const userMeasures = measures.filter((one): one is UserMeasure => !isCost(one));
  const costMeasures = measures.filter(isCost);
  const sums = question.hours
    ? userMeasures.map((name) => [name, sumOverHours(name)] as const)
    : plainSums(userMeasures);
  const users = sql`select ${columnsOf(question)}${named(sums)} from ${usersOf(question, userMeasures)}
    where ${filterOf(question.filter, sql`c`)} group by ${columnsOf(question)}`;
  // Most costs have no hour, and their row would have nothing else in it.
  if (question.hours && costMeasures.length === 0) return queryRows(executor, question, users, userMeasures);
  const costs = sql`select ${columnsOf(question)}${named(plainSums(costMeasures))}
    from (${costRows(question, question.hours ? "hour" : "creative")}) c where ${filterOf(question.filter, sql`c`)} group by ${columnsOf(question)}`;
  // Both parts are always queried: a row may exist because of users or of costs alone, whatever the measures are.
  const [ofUsers, ofCosts] = await readBoth(
    executor,
    () => queryRows(executor, question, users, userMeasures),
    () => queryRows(executor, question, costs, costMeasures),
  );
  return joinedRows(ofUsers, ofCosts);
}

/** The rows of both parts; those with the same values become one. */
function joinedRows(ofUsers: ReportRow[], ofCosts: readonly ReportRow[]): ReportRow[] {
  const keyOfRow = ({ values }: ReportRow) => values.join("\u0000");
  const byKey = new Map(ofUsers.map((row) => [keyOfRow(row), row]));
  const others = ofCosts.filter((row) => {
    const known = byKey.get(keyOfRow(row));
    if (known) Object.assign(known.sums, row.sums);
    return !known;
  });
  return [...ofUsers, ...others];
}

/** Users of several days or hours, each counted once. Grouped without these, so that a user is in one row only. */
export async function queryDistinct(
  executor: Executor,
  question: Question,
  measures: readonly DistinctMeasure[],
): Promise<ReportRow[]> {
  const own = { ...question, dimensions: question.dimensions.filter((name) => name !== "date" && name !== "hour") };
  const sumOf = (name: DistinctMeasure) =>
    question.hours ? sumOverHours(name) : sql`sum(${distinctUsers(name, question.fromDay)})`;
  const part = sql`select ${columnsOf(own)}${named(measures.map((name) => [name, sumOf(name)] as const))}
    from ${usersOf(question, measures)} where ${filterOf(question.filter, sql`c`)} and ${question.hours ? sql`true` : sql`c.active_gaps is not null`}
    group by ${columnsOf(own)}`;
  return queryRows(executor, own, part, measures);
}

/** Groups by stored columns first, and only then by optimiser and department, which are derived from them. */
async function queryRows(
  executor: Executor,
  question: Question,
  part: Sql,
  measures: readonly Measure[],
): Promise<ReportRow[]> {
  const { appId, dimensions } = question;
  const values = dimensions.map((name, index) => sql`${dimensionValue(name)} as ${identifier(`v${index}`)}`);
  const isGrouped = dimensions.length > 0 && !dimensions.some(isDerived);
  const sumOf = (name: Sql) => (isGrouped ? sql`r.${name}` : sql`sum_bigint(r.${name})`);
  const sums = measures.map((name) => sql`${sumOf(identifier(name))}::bigint as ${identifier(name)}`);
  const rows = sql`select ${listed([...values, ...sums, sql`1 as piece`])}
    from (${part}) r ${derivedFrom(appId, dimensions)} ${isGrouped ? sql`` : groupsOf(dimensions)}
    limit ${LIMITS.reportRows + 1}`;
  const names = dimensions.map((_, index) => `v${index}`);
  const columns = await queryColumns<string | number>(executor, rows, [...names, ...measures, "piece"]);
  const valueColumns = columns.slice(0, names.length) as string[][];
  const none = noSums(measures);
  return columns.at(-1)!.map((_, row) => {
    const sums = { ...none };
    measures.forEach((name, at) => {
      sums[name] = (columns[names.length + at]![row] as number | null) ?? 0;
    });
    return { values: valueColumns.map((column) => column[row]!), sums };
  });
}

/** Groups by the values; without any, all rows are one, if there are any. */
function groupsOf(dimensions: readonly Dimension[]): Sql {
  const names = dimensions.map((_, index) => identifier(`v${index}`));
  return names.length > 0 ? sql`group by ${listed(names)}` : sql`having count(*) > 0`;
}

/** Reads the sums of a row, which has them under the measures' names in camelCase. */
export function sumReader(measures: readonly Measure[]): (row: Record<string, unknown>) => Sums {
  const keys = measures.map((name) => [name, keyOf(name)] as const);
  const none = noSums(measures);
  return (row) => {
    const sums = { ...none };
    for (const [name, key] of keys) sums[name] = (row[key] as number | null) ?? 0;
    return sums;
  };
}

/** Copied for each row: an object that grows key by key is moved several times. */
function noSums(measures: readonly Measure[]): Sums {
  return Object.fromEntries(measures.map((name) => [name, 0]));
}

/** The joins that give the row r its optimiser and department. */
export function derivedFrom(appId: number, dimensions: readonly Dimension[]): Sql {
  if (!dimensions.some(isDerived)) return sql``;
  return sql`left join ${advertisersOf(appId)} a on a.ad_platform = r.ad_platform and a.advertiser_id = r.advertiser_id
    left join campaign p on p.app_id = ${appId} and p.turbo_promoted_object_id = r.turbo_promoted_object_id`;
}

/** The dimensions beyond the cube's that a report groups or filters by. */
export function fineOf({ dimensions, filter }: Pick<Question, "dimensions" | "filter">): FineDimension[] {
  const named = [...dimensions, ...filter.values.map(([name]) => name)];
  return [...new Set(named.filter(isFineDimension))];
}

/**
 * The rows of the cube. A user's version changes with every update of the app, so it is not in the cube: reports
 * filtered by version, and those by dimensions that the cube does not have, are counted from the users themselves.
 */
function usersOf(question: Question, measures: readonly UserMeasure[]): Sql {
  const { appId, fromDay, untilDay, reading, filter, hours, cold } = question;
  const cohorts = COHORTS_OF[reading.caliber];
  const fine = fineOf(question);
  if (filter.versions.length === 0 && fine.length === 0) {
    return sql`(select * from cube where app_id = ${appId} and cohort = any(${[...cohorts]}::text[])
      and day >= ${fromDay}::date and day < ${untilDay}::date) c`;
  }
  const range = { appId, fromDay, untilDay, where: versionsOf(filter), fine, hours, measures, cold };
  const counted = cohorts.map((cohort) => (hours ? hourlyRows(cohort, range, measures) : cubeRows(cohort, range)));
  return sql`(${joined(counted, sql` union all `)}) c`;
}

/** Rows of users, which are not added up before users are told apart: the same user may pay in each hour. */
function hourlyRows(cohort: Cohort, range: UserRange, measures: readonly UserMeasure[]): Sql {
  const isCounted = measures.some((name) => /^(?:kept_|pay_[ds]\d|ad_[ds]\d)/.test(name));
  const rows = cohort === "registered" && !isCounted ? registrationRows(range) : userRows(cohort, range);
  return sql`(${rows})`;
}

/** The filter of versions as a condition on the user u. */
export function versionsOf({ versions }: ReportFilter): Sql {
  return versions.length > 0 ? sql`u.version = any(${versions}::numeric[])` : sql`true`;
}

/** The filter as a condition on the rows named `alias`. Versions are filtered elsewhere: rows do not have them. */
export function filterOf({ values }: ReportFilter, alias: Sql): Sql {
  return allOf(values.map(([name, list]) => sql`${alias}.${identifier(name)} = any(${list}::text[])`));
}

/** The columns to group by before optimiser and department are looked up; always at least one. */
function columnsOf({ dimensions }: Pick<Question, "dimensions">): Sql {
  const names = new Set<string>(dimensions.filter((name) => isCubeDimension(name) || isFineDimension(name)));
  if (dimensions.some(isDerived))
    for (const name of ["ad_platform", "advertiser_id", "turbo_promoted_object_id"]) names.add(name);
  if (dimensions.includes("date")) names.add("day");
  if (names.size === 0) names.add("ad_platform");
  return listed([...names].map((name) => sql`c.${identifier(name)}`));
}

function isDerived(name: Dimension): boolean {
  return name === "operator" || name === "dept";
}

/** The value of a dimension of the row r, given the joins of `derivedFrom`. */
export function dimensionValue(name: Dimension): Sql {
  switch (name) {
    case "date":
      return sql`r.day`;
    case "operator":
      return sql`coalesce(nullif(a.operator, ''), p.operator, '')`;
    case "dept":
      return sql`coalesce(nullif(a.dept, ''), p.dept, '')`;
    default:
      return sql`r.${identifier(name)}`;
  }
}

type NamedSum = readonly [name: Measure, sum: Sql];

function plainSums(measures: readonly Measure[]): NamedSum[] {
  return measures.map((name) => [name, sql`sum_bigint(c.${identifier(name)})`]);
}

/** The sum over rows of users, of whom each counts once. */
function sumOverHours(name: UserMeasure): Sql {
  const column = sql`c.${identifier(name)}`;
  const isDistinct = (DISTINCT_MEASURES as readonly string[]).includes(name);
  return isDistinct ? sql`count(distinct c.client_id) filter (where ${column} > 0)` : sql`sum_bigint(${column})`;
}

function named(sums: readonly NamedSum[]): Sql {
  return sums.map(([name, sum]) => sql`, ${sum} as ${identifier(name)}`).reduce(append, sql``);
}

function append(left: Sql, right: Sql): Sql {
  return sql`${left}${right}`;
}

export function isCost(measure: Measure): measure is CostMeasure {
  return (COST_MEASURES as readonly string[]).includes(measure);
}
