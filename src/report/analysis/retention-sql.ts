import type { RetentionCell, RetentionQuestion } from "../../contract/analysis/retention.ts";
import { addDays, isDay } from "../../domain/calendar.ts";
import { LIMITS } from "../../limits.ts";
import { bitsOf, countBits, fitsBits } from "./bits-sql.ts";
import { clauses, type Duck, date, duck, grouped, lines, named, type Table, withTables } from "./duck-sql.ts";
import { exactNumber, isOfUser, readField, textField } from "./field.ts";
import { groupCondition, shownGroups, topOf } from "./group-sql.ts";
import { bucketOfRow, bucketsOf, type Range, readRange } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { segmentTable } from "./segment-sql.ts";
import { checkSource, rowsOf } from "./source-sql.ts";
import { USER_NUMBER, usersAmong } from "./users-sql.ts";

/**
 * Who comes back: for each cohort its users, and for each period those who returned, with their value. All sums over
 * cohorts and groups follow from these rows, because a user is in one cohort and one group.
 */
export function retentionSql(question: RetentionQuestion): Duck {
  const asked = readRetention(question);
  const isSplit = asked.split !== undefined;
  const hasBits = asked.value === undefined && fitsBits(asked.periods + 1);
  const tables = [
    ...firstTables(asked),
    ...(isSplit ? [shownTable(asked)] : []),
    ...(hasBits ? bitsTables(asked) : [returnsTable(asked)]),
  ];
  const groups = isSplit ? [duck`s.place`, duck`s.group_1`] : [];
  const values = asked.value === undefined ? [] : [duck`cast(sum(value) as varchar) as value`];
  const none = asked.value === undefined ? [] : [duck`null as value`];
  const cells = (table: Duck, period: Duck, more: readonly Duck[], users = duck`count(*)`) =>
    clauses([
      duck`select
  ${lines([...groups, duck`cast(cohort as varchar) as cohort`, duck`${period} as period`, duck`${users} as users`, ...more])}`,
      duck`from ${table}`,
      ...(isSplit ? [duck`left join shown s using (group_1)`] : []),
      duck`group by all`,
    ]);
  const select = clauses([
    cells(duck`firsts`, duck`null`, none),
    duck`union all`,
    hasBits
      ? cells(duck`counted`, duck`index`, [], duck`cast(sum(users) as bigint)`)
      : cells(duck`returns`, duck`period`, values),
    duck`order by ${isSplit ? duck`place nulls last, ` : duck``}cohort, period nulls first`,
  ]);
  return withTables(tables, select);
}

/** The users behind a number. */
export function retentionUsersSql(question: RetentionQuestion, cell: RetentionCell): Duck {
  const asked = readRetention(question);
  const conditions = groupCondition(cell, asked.split !== undefined);
  if (cell.cohort !== undefined) {
    if (!isDay(cell.cohort)) throw refused(`${shown(cell.cohort)} is not a cohort of the answer.`);
    conditions.push(duck`cohort = ${date(cell.cohort)}`);
  }
  if (cell.period !== undefined) {
    if (!Number.isInteger(cell.period) || cell.period < 0 || cell.period > asked.periods)
      throw refused(`There is no period ${shown(cell.period)}: the last is ${asked.periods}.`);
    conditions.push(duck`period = ${cell.period}`);
  }
  const tables = [
    ...firstTables(asked),
    ...(cell.kind === "other" ? [shownTable(asked)] : []),
    ...(cell.period === undefined ? [] : [returnsTable(asked)]),
  ];
  const from =
    cell.period === undefined ? duck`firsts` : duck`returns join (select number, client_id from firsts) using (number)`;
  const where = conditions.length === 0 ? duck`true` : grouped(conditions, "and");
  return withTables(tables, usersAmong(duck`select client_id from ${from} where ${where}`));
}

type AskedRetention = Omit<RetentionQuestion, "top"> & { range: Range; top: number };

export function readRetention(question: RetentionQuestion): AskedRetention {
  const { by, periods, first, back, value, split } = question;
  const range = readRange(question.date_list);
  const top = topOf(question.top);
  if (by !== "day" && by !== "week") throw refused(`by is ${shown(by)}: use day or week.`);
  if (!Number.isInteger(periods) || periods < 1 || periods > LIMITS.retentionPeriods)
    throw refused(`periods is ${shown(periods)}: use 1 to ${LIMITS.retentionPeriods}.`);
  for (const source of [first, back]) checkSource(source);
  if (value && value.measure !== "count" && value.measure !== "sum")
    throw refused(`measure is ${shown(value.measure)}: use count or sum.`);
  if (value?.measure === "sum") exactNumber(value, back.source);
  if (split !== undefined) readField(split, first.source);
  const cells = bucketsOf(by, range).length * (periods + 1) * (split === undefined ? 1 : top + 2);
  if (cells > LIMITS.reportRows)
    throw refused(
      `The answer would have ${cells} numbers, at most ${LIMITS.reportRows} are shown: lower top, periods or days.`,
    );
  return { ...question, range, top };
}

function shownTable({ top }: AskedRetention): Table {
  return { name: named("shown"), of: shownGroups(duck`firsts`, top) };
}

/** The table `firsts`: each user's first event with its cohort, and its group. */
function firstTables(asked: AskedRetention): Table[] {
  const { first, range, by, split } = asked;
  const cohort = bucketOfRow(by);
  const columns = [
    duck`e.client_id`,
    duck`min(e."time") as first_time`,
    duck`arg_min(${cohort}, e."time") as cohort`,
    ...(split === undefined ? [] : [duck`${groupAtFirst(first, split)} as group_1`]),
  ];
  const rows = rowsOf({
    source: first,
    range,
    columns,
    ofUser: split !== undefined && isOfUser(readField(split, first.source)),
    inSegment: asked.segment !== undefined,
  });
  // Returns are grouped by this number: texts as keys take a quarter longer.
  const firsts = duck`select *, ${USER_NUMBER} as number
from (
  ${rows}
  group by e.client_id
)`;
  return [...segmentTable(asked.segment, range), { name: named("firsts"), of: firsts }];
}

/** The group at the first event. Of several events in the same millisecond, the least text counts. */
function groupAtFirst(first: RetentionQuestion["first"], split: string): Duck {
  const field = readField(split, first.source);
  const text = textField(field, first.source);
  return isOfUser(field) ? duck`min(${text})` : duck`arg_min(${text}, (e."time", ${text}))`;
}

/** The table `returns`: a row for each user and period with a return, and its value. */
function returnsTable(asked: AskedRetention): Table {
  const { value, back } = asked;
  const values =
    value?.measure === "sum"
      ? [duck`sum(${exactNumber(value, back.source)}) as value`]
      : value
        ? [duck`count(*) as value`]
        : [];
  return { name: named("returns"), of: returnRows(asked, (period) => [duck`${period} as period`, ...values]) };
}

/** The tables `returns`, with a row for each user who returned and the periods as bits, and `counted`, with their number. */
function bitsTables(asked: AskedRetention): Table[] {
  const rows = returnRows(asked, (period) => [duck`${bitsOf(period)} as periods`]);
  const counted = countBits({
    table: duck`returns`,
    bits: duck`periods`,
    keys: [duck`cohort`, ...(asked.split === undefined ? [] : [duck`group_1`])],
    buckets: asked.periods + 1,
  });
  return [
    { name: named("returns"), of: rows },
    { name: named("counted"), of: counted },
  ];
}

/** Users who returned, with columns that follow from the period of a return. */
function returnRows({ back, range, by, periods, split }: AskedRetention, columns: (period: Duck) => Duck[]): Duck {
  const moreDays = by === "week" ? 7 * (periods + 1) : periods;
  const days = duck`${bucketOfRow(by)} - f.cohort`;
  const rows = rowsOf({
    source: back,
    range: { fromDay: range.fromDay, toDay: addDays(range.toDay, moreDays) },
    columns: [
      duck`f.number`,
      duck`f.cohort`,
      ...(split === undefined ? [] : [duck`f.group_1`]),
      ...columns(by === "week" ? duck`(${days}) // 7` : days),
    ],
    join: duck`join firsts f on f.client_id = e.client_id`,
    conditions: [duck`e."time" >= f.first_time`, duck`${days} <= ${by === "week" ? periods * 7 : periods}`],
  });
  return duck`${rows}
group by all`;
}
