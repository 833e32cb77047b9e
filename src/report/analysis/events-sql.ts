import type { EventsQuestion, Series } from "../../contract/analysis/events.ts";
import { LIMITS } from "../../limits.ts";
import { bitsOf, countBits, fitsBits } from "./bits-sql.ts";
import { clauses, type Duck, duck, lines, listed, named, type Table, unionOf, withTables } from "./duck-sql.ts";
import { exactNumber, isOfUser, readField, textField } from "./field.ts";
import { letterOf, parseFormula } from "./formula.ts";
import { groupBitLines, groupBitTables } from "./group-bits-sql.ts";
import { topOf } from "./group-sql.ts";
import { bucketAt, bucketIndex, bucketOfRow, bucketsOf, daysOf, earlierRange, type Range, readRange } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { segmentTable } from "./segment-sql.ts";
import { checkSource, type Reading, rowsOf } from "./source-sql.ts";

/**
 * How many events, by what. Each series is first reduced to what its measure needs, which the number of groups and not of
 * events limits: sums by bucket and group, or one row per user where users are counted. Only percentiles keep every value.
 * From these rows follow the groups that are shown, then the cells: with a bucket, and without one for the whole range.
 */
export function eventsSql(question: EventsQuestion, stored: ReadonlySet<string>): Duck {
  const asked = { ...readEvents(question), stored };
  const tables = [
    ...segmentTable(question.segment, asked.range),
    ...asked.series.flatMap((one) => seriesTables(one, asked)),
  ];
  if (asked.split.length > 0) tables.push({ name: named("shown"), of: shownGroups(asked) }, ...lineTables(asked));
  const cells = asked.series.flatMap((one) => asked.periods.flatMap((period) => cellsOf(one, period, asked)));
  return duck`${withTables(tables, unionOf(cells))}
order by series, period, bucket nulls first${asked.split.length > 0 ? duck`, place nulls last` : duck``}`;
}

export type Period = { name: "now" | "earlier"; range: Range };
export type AskedSeries = Series & { index: number };

/** A question that has been checked. */
export type AskedEvents = Omit<EventsQuestion, "series" | "split" | "top"> & {
  range: Range;
  periods: readonly Period[];
  series: readonly AskedSeries[];
  split: readonly string[];
  top: number;
  /** Properties of events that files have as columns of their own. */
  stored: ReadonlySet<string>;
};

export function readEvents(question: EventsQuestion): AskedEvents {
  const { series, split = [], formulas = [] } = question;
  const top = topOf(question.top);
  const range = readRange(question.date_list);
  const compared = question.compare_date === undefined ? [] : [earlierRange(range, question.compare_date)];
  if (!Array.isArray(series) || series.length === 0) throw refused("series is empty: add at least one.");
  if (series.length > LIMITS.analysisSeries)
    throw refused(`There are more than ${LIMITS.analysisSeries} series: use fewer.`);
  if (split.length > 2) throw refused("A question is split by at most two fields: remove one.");
  series.forEach(checkSeries);
  checkSize(question, range, (split.length > 0 ? top + 1 : 1) * (series.length + formulas.length));
  for (const formula of formulas) parseFormula(formula, series.length);
  const now: Period = { name: "now", range };
  return {
    ...question,
    range,
    periods: [now, ...compared.map((earlier): Period => ({ name: "earlier", range: earlier }))],
    series: series.map((one, index) => ({ ...one, index })),
    split,
    top,
    stored: new Set(),
  };
}

function checkSize({ by }: EventsQuestion, range: Range, lineCount: number): void {
  if (!["hour", "day", "week", "month", "total"].includes(by))
    throw refused(`by is ${shown(by)}: use hour, day, week, month or total.`);
  if (by === "hour" && daysOf(range) > LIMITS.analysisHourDays)
    throw refused(
      `date_list spans ${daysOf(range)} days, by the hour at most ${LIMITS.analysisHourDays}: choose fewer days, or by day.`,
    );
  const cells = bucketsOf(by, range).length * lineCount;
  if (cells > LIMITS.reportRows)
    throw refused(
      `The answer would have ${cells} numbers, at most ${LIMITS.reportRows} are shown: lower top or the days.`,
    );
}

function checkSeries(series: Series): void {
  checkSource(series);
  switch (series.measure) {
    case "count":
    case "users":
    case "per_user":
      return;
    case "sum":
    case "average":
      exactNumber(series, series.source);
      return;
    case "percentile": {
      const { percent = 0 } = series;
      if (!(percent >= 0.1 && percent <= 99.9 && Number.isInteger(Math.round(percent * 1e6) / 1e5)))
        throw refused(`percent is ${shown(series.percent)}: use 0.1 to 99.9 with one decimal place.`);
      exactNumber(series, series.source);
      return;
    }
    default:
      throw refused(`measure is ${shown(series.measure)}: use count, users, per_user, sum, average or percentile.`);
  }
}

function tableName({ index }: AskedSeries, { name }: Period): Duck {
  const letter = letterOf(index).toLowerCase();
  return named(name === "now" ? letter : `${letter}_${name}`);
}

/** The groups that are shown, with the tables from which they follow. */
export function shownTables(asked: AskedEvents): Table[] {
  const [now] = asked.periods;
  const series = asked.series.flatMap((one) => seriesTables(one, { ...asked, periods: [now!] }));
  return [...series, { name: named("shown"), of: shownGroups(asked) }];
}

/** The rows of a series in each period; where users are counted by buckets, also their rows of the whole range. */
function seriesTables(series: AskedSeries, asked: AskedEvents): Table[] {
  return asked.periods.flatMap((period) => {
    const name = tableName(series, period);
    const columns = hasRowPerUser(series, asked)
      ? [...groupColumns(series, asked), duck`e.client_id`, ...bitsColumn(period, asked)]
      : [...bucketColumn(asked), ...groupColumns(series, asked), ...measureColumns(series)];
    const reading: Reading = {
      source: series,
      range: period.range,
      columns,
      ofUser: asked.split.some((field) => isOfUser(readField(field, series.source))),
      inSegment: asked.segment !== undefined,
      isGrouped: series.measure !== "percentile",
    };
    if (hasGroupBits(series, asked))
      return groupBitTables({ name, groups: groupNames(asked), values: groupValues(series, asked), reading });
    const own = { name, of: rowsOf(reading) };
    if (!hasRowPerBucket(series, asked)) return [own];
    const keys = listed([...groupNames(asked), duck`client_id`]);
    return [
      own,
      { name: wholeName(series, period, asked), of: duck`select ${keys}, sum(n) as n from ${name} group by all` },
    ];
  });
}

/** The table with the rows of the whole range. */
function wholeName(series: AskedSeries, period: Period, asked: AskedEvents): Duck {
  const name = tableName(series, period);
  return hasRowPerBucket(series, asked) ? duck`${name}_users` : name;
}

/** Whether the groups of a user are bits: nothing but users is counted, in the whole range, by columns with few values. */
function hasGroupBits({ measure, source }: Series, { by, split, stored }: AskedEvents): boolean {
  const hasFewValues = (name: string) => {
    const field = readField(name, source);
    return field.kind === "event_name" || (field.kind === "event" && stored.has(field.name));
  };
  return measure === "users" && source === "event" && by === "total" && split.length > 0 && split.every(hasFewValues);
}

/** Whether a user has one row in a group, with the buckets as bits, because nothing but users is counted. */
function hasRowPerUser(series: Series, asked: AskedEvents): boolean {
  if (series.measure !== "users" || hasGroupBits(series, asked)) return false;
  return asked.periods.every(({ range }) => fitsBits(bucketsOf(asked.by, range).length));
}

/** Whether a user has a row in each bucket and group. */
function hasRowPerBucket(series: Series, asked: AskedEvents): boolean {
  return countsUsers(series) && asked.by !== "total" && !hasRowPerUser(series, asked);
}

function bitsColumn({ range }: Period, { by }: AskedEvents): Duck[] {
  return by === "total" ? [] : [duck`${bitsOf(bucketIndex(by, range))} as buckets`];
}

/** Of series with a row per user and group: the rows of the groups that are shown, and one per user for all others. */
function lineTables(asked: AskedEvents): Table[] {
  const names = groupNames(asked);
  const bits = asked.by === "total" ? [] : [duck`buckets`];
  return asked.series
    .filter((series) => hasGroupBits(series, asked) || hasRowPerUser(series, asked))
    .flatMap((series) =>
      asked.periods.map((period) => {
        const table = tableName(series, period);
        if (hasGroupBits(series, asked))
          return { name: duck`${table}_lines`, of: groupBitLines({ name: table, groups: names }) };
        const shown = duck`select ${listed([duck`place`, ...names, ...bits])}
from ${table}
join shown using (${listed(names)})`;
        const others = duck`select ${listed([duck`null`, ...names.map(() => duck`''`), ...bits.map((of) => duck`bit_or(${of})`)])}
from ${table}
anti join shown using (${listed(names)})
group by client_id`;
        return { name: duck`${table}_lines`, of: unionOf([shown, others]) };
      }),
    );
}

function countsUsers({ measure }: Series): boolean {
  return measure === "users" || measure === "per_user";
}

function bucketColumn({ by }: AskedEvents): Duck[] {
  return by === "total" ? [] : [duck`${bucketOfRow(by)} as bucket`];
}

function groupColumns(series: Series, asked: AskedEvents): Duck[] {
  const values = groupValues(series, asked);
  return groupNames(asked).map((name, index) => duck`${values[index]!} as ${name}`);
}

function groupValues({ source }: Series, { split }: AskedEvents): Duck[] {
  return split.map((name) => textField(readField(name, source), source));
}

function groupNames({ split }: Pick<AskedEvents, "split">): Duck[] {
  return split.map((_, index) => named(`group_${index + 1}`));
}

function measureColumns(series: AskedSeries): Duck[] {
  switch (series.measure) {
    case "count":
      return [duck`count(*) as n`];
    case "users":
    case "per_user":
      return [duck`e.client_id`, duck`count(*) as n`];
    case "sum":
    case "average": {
      const number = exactNumber(series, series.source);
      return [duck`count(${number}) as n`, duck`sum(${number}) as total`];
    }
    case "percentile":
      return [duck`${exactNumber(series, series.source)} as number`];
  }
}

/** The measure of many rows, one per user where users are counted: as a cell shows it, and as groups are ranked by it. */
function measured(series: AskedSeries): { n: Duck; users: Duck; number: Duck; rank: Duck } {
  const none = duck`cast(null as bigint)`;
  const noNumber = duck`cast(null as varchar)`;
  switch (series.measure) {
    case "count":
      return { n: duck`sum(n)`, users: none, number: noNumber, rank: duck`sum(n)` };
    case "users":
    case "per_user": {
      const rank = series.measure === "users" ? duck`count(*)` : duck`cast(sum(n) as double) / count(*)`;
      return { n: duck`sum(n)`, users: duck`count(*)`, number: noNumber, rank };
    }
    case "sum":
    case "average": {
      const rank = series.measure === "sum" ? duck`coalesce(sum(total), 0)` : duck`cast(sum(total) as double) / sum(n)`;
      return { n: duck`sum(n)`, users: none, number: duck`cast(sum(total) as varchar)`, rank };
    }
    case "percentile": {
      // A share with a decimal point makes the rank exact: it is the least whole number that is not below share × count.
      const percentile = duck`quantile_disc(number, ${shareOf(series.percent ?? 0)})`;
      return { n: duck`count(number)`, users: none, number: duck`cast(${percentile} as varchar)`, rank: percentile };
    }
  }
}

/** The groups that are shown, by the total of the first series in the range. Groups without it come last, by name. */
function shownGroups(asked: AskedEvents): Duck {
  const [first, ...others] = asked.series;
  const [now] = asked.periods;
  const groups = listed(groupNames(asked));
  const ranked = hasGroupBits(first!, asked)
    ? duck`select ${groups}, users as rank from ${tableName(first!, now!)}`
    : duck`select ${groups}, ${measured(first!).rank} as rank from ${wholeName(first!, now!, asked)} group by all`;
  const more = others.map((one) => duck`select distinct ${groups}, null from ${tableName(one, now!)}`);
  const all =
    more.length === 0
      ? ranked
      : duck`select ${groups}, max(rank) as rank
from (
  ${unionOf([ranked, ...more])}
)
group by all`;
  return duck`select ${groups}, row_number() over (order by rank desc nulls last, ${groups}) as place
from (
  ${all}
)
order by place
limit ${asked.top}`;
}

/** Cells of the whole range, and those with a bucket. */
function cellsOf(series: AskedSeries, period: Period, asked: AskedEvents): Duck[] {
  if (hasGroupBits(series, asked) || hasRowPerUser(series, asked)) return cellsOfUsers(series, period, asked);
  const whole = cells({ series, period, asked, table: wholeName(series, period, asked), keys: [] });
  if (asked.by === "total") return [whole];
  return [whole, cells({ series, period, asked, table: tableName(series, period), keys: [duck`bucket`] })];
}

/** The same where a user has one row: the cells of buckets are counted by their bits, those of groups have been. */
function cellsOfUsers(series: AskedSeries, period: Period, asked: AskedEvents): Duck[] {
  const { by, split } = asked;
  const lined = split.length > 0 ? [duck`place`, ...groupNames(asked)] : [];
  const table = split.length > 0 ? duck`${tableName(series, period)}_lines` : tableName(series, period);
  const cell = (bucket: Duck, users: Duck, from: Duck) => duck`select
  ${lines([
    duck`${letterOf(series.index)} as series`,
    duck`${period.name} as period`,
    duck`${bucket} as bucket`,
    ...lined,
    duck`cast(null as bigint) as n`,
    users,
    duck`cast(null as varchar) as number`,
  ])}
from ${from}`;
  if (hasGroupBits(series, asked)) return [cell(duck`null`, duck`users`, table)];
  const whole = cell(
    duck`null`,
    duck`count(*) as users`,
    lined.length > 0 ? duck`${table} group by ${listed(lined)}` : table,
  );
  if (by === "total") return [whole];
  const buckets = bucketsOf(by, period.range).length;
  const counted = countBits({ table, bits: duck`buckets`, keys: lined, buckets });
  const bucket = duck`cast(${bucketAt(by, period.range, duck`index`)} as varchar)`;
  return [
    whole,
    cell(
      bucket,
      duck`users`,
      duck`(
  ${counted}
)`,
    ),
  ];
}

function cells({
  series,
  period,
  asked,
  table,
  keys,
}: {
  series: AskedSeries;
  period: Period;
  asked: AskedEvents;
  table: Duck;
  keys: readonly Duck[];
}): Duck {
  const { n, users, number } = measured(series);
  const names = groupNames(asked);
  const isSplit = names.length > 0;
  // A user has one row in a group that is shown, and may have several in the others.
  const others = duck`count(distinct client_id) filter (where s.place is null)`;
  const split = [duck`s.place`, ...names.map((name) => duck`s.${name}`)];
  const by = [...keys, ...(isSplit ? split : [])];
  return clauses([
    duck`select
  ${lines([
    duck`${letterOf(series.index)} as series`,
    duck`${period.name} as period`,
    ...(keys.length === 0 ? [duck`null as bucket`] : [duck`cast(bucket as varchar) as bucket`]),
    ...(isSplit ? [duck`s.place`, ...names.map((name) => duck`coalesce(s.${name}, '') as ${name}`)] : []),
    duck`${n} as n`,
    isSplit && countsUsers(series)
      ? duck`case when s.place is null then ${others} else count(*) end as users`
      : duck`${users} as users`,
    duck`${number} as number`,
  ])}`,
    duck`from ${table} t`,
    ...(isSplit ? [duck`left join shown s using (${listed(names)})`] : []),
    ...(by.length > 0 ? [duck`group by ${listed(by)}`] : []),
  ]);
}

function shareOf(percent: number): Duck {
  return duck`cast(${(percent / 100).toFixed(3)} as decimal(4, 3))`;
}
