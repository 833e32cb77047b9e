import type { Source } from "../../contract/analysis/question.ts";
import { allOf, clauses, type Duck, duck, lines } from "./duck-sql.ts";
import { checkTree, filterSql, readsUser } from "./filter-sql.ts";
import { inRange, type Range } from "./range.ts";
import { refused, shown } from "./refusal.ts";

/** What is read of a source: its columns, and whether they need the user's row. */
export type Reading = {
  source: Source;
  range: Range;
  columns: readonly Duck[];
  /** Whether a column is of the user. */
  ofUser?: boolean;
  /** Another table that each row is joined with. */
  join?: Duck;
  /** Whether only users of the table `segment` count. */
  inSegment?: boolean;
  conditions?: readonly Duck[];
  /** Whether rows are grouped by all columns that are not sums. */
  isGrouped?: boolean;
};

/** Rows of events `e`, or of orders by the same name, with their user `u` where a column or the filter needs it. */
export function rowsOf(reading: Reading): Duck {
  const { source, range, columns } = reading;
  const joinsUser = reading.ofUser || readsUser(source.filter, source.source);
  const from = source.source === "order" ? duck`from orders e` : duck`from events e`;
  const where = allOf([
    ...sourceConditions(source),
    inRange(range),
    ...(source.filter ? [filterSql(source.filter, source.source)] : []),
    ...(reading.inSegment ? [duck`e.client_id in (select client_id from segment)`] : []),
    ...(reading.conditions ?? []),
  ]);
  return clauses([
    duck`select
  ${lines(columns)}`,
    from,
    ...(reading.join ? [reading.join] : []),
    ...(joinsUser ? [duck`left join users u on u.client_id = e.client_id`] : []),
    duck`where ${where}`,
    // Where every column is a constant or a sum, there would be a row without any event.
    ...(reading.isGrouped ? [duck`group by all`, duck`having count(*) > 0`] : []),
  ]);
}

/** Of events without a name, those that only change a profile are left out: nobody did them. */
function sourceConditions({ source, event }: Source): Duck[] {
  if (source === "order") return [];
  return [event === undefined ? duck`e.type = 'track'` : duck`e.event = ${event}`];
}

/** Refuses a source that does not exist, and filters that cannot be asked. */
export function checkSource(source: Source): void {
  if (source.source !== "event" && source.source !== "order")
    throw refused(`source is ${shown(source.source)}: use event or order.`);
  if (source.event !== undefined && source.source === "order")
    throw refused("Orders have no event name: leave event out, or ask for source event.");
  if (source.event !== undefined && (typeof source.event !== "string" || source.event === ""))
    throw refused("event is empty: name an event, or leave it out for every event.");
  if (source.filter) checkTree(source.filter);
}
