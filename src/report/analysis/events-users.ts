import type { EventsCell, EventsQuestion } from "../../contract/analysis/events.ts";
import { type Duck, duck, grouped, listed, withTables } from "./duck-sql.ts";
import { type AskedEvents, type AskedSeries, readEvents, shownTables } from "./events-sql.ts";
import { exactNumber, isOfUser, readField, textField } from "./field.ts";
import { bucketLiteral, bucketOfRow } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { segmentTable } from "./segment-sql.ts";
import { rowsOf } from "./source-sql.ts";
import { usersAmong } from "./users-sql.ts";

/** The users behind a number of a series: those with a row that it counts. */
export function eventsUsersSql(question: EventsQuestion, cell: EventsCell): Duck {
  const asked = readEvents(question);
  const series = asked.series[cell.series];
  if (!series) throw refused(`There is no series ${shown(cell.series)}: a number of a formula opens by its series.`);
  const period = asked.periods.find(({ name }) => name === (cell.is_earlier ? "earlier" : "now"));
  if (!period) throw refused("The question compares with no earlier range: leave is_earlier out.");
  const rows = rowsOf({
    source: series,
    range: period.range,
    columns: [duck`e.client_id`],
    ofUser: asked.split.some((name) => isOfUser(readField(name, series.source))),
    inSegment: asked.segment !== undefined,
    conditions: [...bucketCondition(asked, cell), ...groupCondition(asked, series, cell), ...numberCondition(series)],
  });
  const tables = [
    ...segmentTable(question.segment, asked.range),
    ...(cell.is_other && asked.split.length > 0 ? shownTables(asked) : []),
  ];
  return withTables(tables, usersAmong(rows));
}

function bucketCondition({ by }: AskedEvents, { bucket }: EventsCell): Duck[] {
  if (bucket === undefined) return [];
  if (by === "total") throw refused("The question has no buckets: leave bucket out.");
  return [duck`${bucketOfRow(by)} = ${bucketLiteral(by, bucket)}`];
}

function groupCondition({ split }: AskedEvents, series: AskedSeries, { group, is_other }: EventsCell): Duck[] {
  if (split.length === 0) return [];
  const texts = split.map((name) => textField(readField(name, series.source), series.source));
  if (is_other) {
    const names = listed(split.map((_, index) => (index === 0 ? duck`group_1` : duck`group_2`)));
    return [duck`(${listed(texts)}) not in (select ${split.length === 1 ? names : duck`(${names})`} from shown)`];
  }
  if (group?.length !== split.length) throw refused("group must hold one value for each field of split.");
  return [
    grouped(
      texts.map((text, index) => duck`${text} = ${group[index]!}`),
      "and",
    ),
  ];
}

/** Rows without the number are not counted by measures of it. */
function numberCondition(series: AskedSeries): Duck[] {
  const isOfNumber = series.measure === "sum" || series.measure === "average" || series.measure === "percentile";
  return isOfNumber ? [duck`${exactNumber(series, series.source)} is not null`] : [];
}
