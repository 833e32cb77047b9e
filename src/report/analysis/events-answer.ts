import type { EventsAnswer, EventsLine, EventsQuestion, Measure } from "../../contract/analysis/events.ts";
import { type AskedEvents, type Period, readEvents } from "./events-sql.ts";
import { computedValue, type Formula, letterOf, parseFormula } from "./formula.ts";
import { bucketsOf, bucketText } from "./range.ts";
import { numberOrNull, type Row, textOr } from "./row.ts";

/** The answer, from the rows of `eventsSql`. Buckets without rows count as 0 where there is something to count. */
export function eventsAnswer(question: EventsQuestion, rows: readonly Row[]): EventsAnswer {
  const asked = readEvents(question);
  const cells = cellsByKey(asked, rows);
  const formulas = (question.formulas ?? []).map((text) => ({
    text,
    formula: parseFormula(text, asked.series.length),
  }));
  const lines = groupsOf(asked, rows).flatMap((group) => linesOf({ asked, cells, formulas, group }));
  const [now, earlier] = asked.periods;
  return {
    buckets: bucketsOf(asked.by, now!.range),
    ...(earlier && { earlier_buckets: bucketsOf(asked.by, earlier.range) }),
    lines,
  };
}

type Group = { place: string; group: string[]; isOther: boolean };
type Named = { text: string; formula: Formula };
type Values = { total: number | null; values: (number | null)[] };

/** The groups that any row has, in the order of their places; all others come last. Without a split there is one. */
function groupsOf(asked: AskedEvents, rows: readonly Row[]): Group[] {
  if (asked.split.length === 0) return [{ place: "", group: [], isOther: false }];
  const groups = new Map<string, Group & { order: number }>();
  for (const row of rows) {
    const place = textOr(row.place, "");
    const order = numberOrNull(row.place) ?? Number.POSITIVE_INFINITY;
    const group = [row.group_1, row.group_2].slice(0, asked.split.length).map((text) => textOr(text, ""));
    groups.set(place, { place, group, isOther: place === "", order });
  }
  return [...groups.values()].sort((one, other) => one.order - other.order);
}

function linesOf({
  asked,
  cells,
  formulas,
  group,
}: {
  asked: AskedEvents;
  cells: ReadonlyMap<string, Row>;
  formulas: readonly Named[];
  group: Group;
}): EventsLine[] {
  const [now, earlier] = asked.periods;
  const seriesOf = (period: Period) =>
    asked.series.map(({ index }) => valuesOf({ asked, cells, group, period, index }));
  const nows = seriesOf(now!);
  const earliers = earlier && seriesOf(earlier);
  const line = (name: string, values: Values, before: Values | undefined): EventsLine => ({
    name,
    group: group.group,
    is_other: group.isOther,
    ...values,
    ...(before && { earlier: before }),
  });
  return [
    ...asked.series.map(({ index }) => line(letterOf(index), nows[index]!, earliers?.[index])),
    ...formulas.map(({ text, formula }) =>
      line(text, computed(formula, nows), earliers && computed(formula, earliers)),
    ),
  ];
}

/** A formula over the totals and over each bucket. */
function computed(formula: Formula, series: readonly Values[]): Values {
  const at = (index: number) => series.map(({ values }) => values[index] ?? null);
  return {
    total: computedValue(
      formula,
      series.map(({ total }) => total),
    ),
    values: series[0]!.values.map((_, index) => computedValue(formula, at(index))),
  };
}

function valuesOf({
  asked,
  cells,
  group,
  period,
  index,
}: {
  asked: AskedEvents;
  cells: ReadonlyMap<string, Row>;
  group: Group;
  period: Period;
  index: number;
}): Values {
  const { measure } = asked.series[index]!;
  const cell = (bucket: string) =>
    cellValue(measure, cells.get(keyOf(letterOf(index), period.name, bucket, group.place)));
  return { total: cell(""), values: bucketsOf(asked.by, period.range).map(cell) };
}

function cellsByKey({ by }: AskedEvents, rows: readonly Row[]): Map<string, Row> {
  return new Map(
    rows.map((row) => {
      const bucket = row.bucket === null ? "" : bucketText(by, textOr(row.bucket, ""));
      return [keyOf(textOr(row.series, ""), textOr(row.period, ""), bucket, textOr(row.place, "")), row];
    }),
  );
}

function keyOf(...parts: readonly string[]): string {
  return parts.join("|");
}

function cellValue(measure: Measure, row: Row | undefined): number | null {
  const n = numberOrNull(row?.n) ?? 0;
  const users = numberOrNull(row?.users) ?? 0;
  const number = numberOrNull(row?.number);
  switch (measure) {
    case "count":
      return n;
    case "users":
      return users;
    case "per_user":
      return users === 0 ? null : n / users;
    case "sum":
      return number ?? 0;
    case "average":
      return number === null || n === 0 ? null : number / n;
    case "percentile":
      return number;
  }
}
