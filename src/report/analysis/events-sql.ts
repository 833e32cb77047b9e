import type { EventsQuestion, Series } from "../../contract/analysis/events.ts";
import { LIMITS } from "../../limits.ts";
import { type Duck, duck, lines, listed, named, type Table, unionOf, withTables } from "./duck-sql.ts";
import { exactNumber, isOfUser, readField, textField } from "./field.ts";
import { letterOf, parseFormula } from "./formula.ts";
import { topOf } from "./group-sql.ts";
import { bucketOfRow, bucketsOf, daysOf, earlierRange, type Range, readRange } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { segmentTable } from "./segment-sql.ts";
import { checkSource, rowsOf } from "./source-sql.ts";

/**
 * How many events, by what. Each series is first reduced to what its measure needs, which the number of groups and not of
 * events limits: sums by bucket and group, or one row per user where users are counted. Only percentiles keep every value.
 * From these rows follow the groups that are shown, then the cells: with a bucket, and without one for the whole range.
 */
export function eventsSql(question: EventsQuestion): Duck {
  const asked = readEvents(question);
  const tables = [
    ...segmentTable(question.segment, asked.range),
    ...asked.series.flatMap((one) => seriesTables(one, asked)),
  ];
  if (asked.split.length > 0) tables.push({ name: named("shown"), of: shownGroups(asked) });
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

function seriesTables(series: AskedSeries, asked: AskedEvents): Table[] {
  return asked.periods.map((period) => ({
    name: tableName(series, period),
    of: rowsOf({
      source: series,
      range: period.range,
      columns: [...bucketColumn(asked), ...groupColumns(series, asked), ...measureColumns(series)],
      ofUser: asked.split.some((name) => isOfUser(readField(name, series.source))),
      inSegment: asked.segment !== undefined,
      isGrouped: series.measure !== "percentile",
    }),
  }));
}

function bucketColumn({ by }: AskedEvents): Duck[] {
  return by === "total" ? [] : [duck`${bucketOfRow(by)} as bucket`];
}

function groupColumns(series: Series, { split }: Pick<AskedEvents, "split">): Duck[] {
  return split.map((name, index) => {
    const field = readField(name, series.source);
    return duck`${textField(field, series.source)} as ${groupName(index)}`;
  });
}

function groupName(index: number): Duck {
  return named(`group_${index + 1}`);
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
  const groups = listed(asked.split.map((_, index) => groupName(index)));
  const ranked = duck`select ${groups}, ${measured(first!).rank} as rank from ${rankedRows(first!, now!, asked)} group by all`;
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

/** Rows by which groups are ranked. A user of several buckets counts once. */
function rankedRows(series: AskedSeries, period: Period, { by, split }: AskedEvents): Duck {
  const table = tableName(series, period);
  if (!countsUsers(series) || by === "total") return table;
  const keys = listed([...split.map((_, index) => groupName(index)), duck`client_id`]);
  return duck`(select ${keys}, sum(n) as n from ${table} group by all)`;
}

function countsUsers({ measure }: Series): boolean {
  return measure === "users" || measure === "per_user";
}

/** Cells with a bucket, and those of the whole range. */
function cellsOf(series: AskedSeries, period: Period, asked: AskedEvents): Duck[] {
  const { n, users, number } = measured(series);
  const groups = asked.split.map((_, index) => groupName(index));
  const cells = (bucket: Duck, rows: Duck) => duck`select
  ${lines([
    duck`${letterOf(series.index)} as series`,
    duck`${period.name} as period`,
    duck`${bucket} as bucket`,
    ...(groups.length > 0 ? [duck`place`] : []),
    ...groups,
    duck`${n} as n`,
    duck`${users} as users`,
    duck`${number} as number`,
  ])}
from ${rows}
group by all`;
  return [
    cells(duck`null`, cellRows(series, period, { asked, keys: [] })),
    ...(asked.by === "total"
      ? []
      : [cells(duck`cast(bucket as varchar)`, cellRows(series, period, { asked, keys: [duck`bucket`] }))]),
  ];
}

/**
 * The rows of cells: the series' own, with the place of their group. Where users are counted there is one for each user,
 * who may have rows in several buckets, and in several of the groups that are not shown.
 */
function cellRows(
  series: AskedSeries,
  period: Period,
  { asked, keys }: { asked: AskedEvents; keys: readonly Duck[] },
): Duck {
  const table = tableName(series, period);
  const names = asked.split.map((_, index) => groupName(index));
  const isSplit = names.length > 0;
  const isByUser = countsUsers(series);
  if (!isSplit && (!isByUser || keys.length > 0 || asked.by === "total")) return table;
  const groups = isSplit ? [duck`s.place`, ...names.map((name) => duck`coalesce(s.${name}, '') as ${name}`)] : [];
  const from = isSplit ? duck`${table} t left join shown s using (${listed(names)})` : duck`${table} t`;
  return isByUser
    ? duck`(
  select ${listed([...keys, ...groups, duck`client_id`, duck`sum(n) as n`])}
  from ${from}
  group by all
)`
    : duck`(
  select ${listed([...groups, duck`t.* exclude (${listed(names)})`])}
  from ${from}
)`;
}

function shareOf(percent: number): Duck {
  return duck`cast(${(percent / 100).toFixed(3)} as decimal(4, 3))`;
}
