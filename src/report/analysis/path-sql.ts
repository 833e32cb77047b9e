import type { PathCell, PathQuestion } from "../../contract/analysis/path.ts";
import type { Source } from "../../contract/analysis/question.ts";
import { LIMITS } from "../../limits.ts";
import { clauses, type Duck, duck, grouped, listed, named, type Table, withTables } from "./duck-sql.ts";
import { filterSql, readsUser } from "./filter-sql.ts";
import { type Range, readRange } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { segmentTable } from "./segment-sql.ts";
import { checkSource, rowsOf } from "./source-sql.ts";
import { usersAmong } from "./users-sql.ts";

/**
 * What follows or precedes an event: how many sessions have which event at each level, and which one after it. Each session
 * has one event at a level, so what is not shown can be added up from these rows.
 */
export function pathSql(question: PathQuestion): Duck {
  const { levels } = question;
  return withTables(
    pathTables(question),
    duck`select level, path[level + 1] as event, path[level + 2] as next_event, count(*) as sessions
from paths
cross join range(0, ${levels + 1}) as l(level)
where level < len(path)
group by all
order by level, sessions desc, event, next_event nulls last`,
  );
}

/** The users behind a node or a link. */
export function pathUsersSql(question: PathQuestion, { level, event, to }: PathCell): Duck {
  const tables = pathTables(question);
  if (!Number.isInteger(level) || level < 0 || level + (to === undefined ? 0 : 1) > question.levels)
    throw refused(`There is no level ${shown(level)}: the last is ${question.levels}.`);
  const conditions = [
    duck`path[${level + 1}] = ${event}`,
    ...(to === undefined ? [] : [duck`path[${level + 2}] = ${to}`]),
  ];
  return withTables(tables, usersAmong(duck`select client_id from paths where ${grouped(conditions, "and")}`));
}

const TOP_DEFAULT = 5;

export function pathTop({ top = TOP_DEFAULT }: PathQuestion): number {
  if (Number.isInteger(top) && top >= 1 && top <= LIMITS.pathTop) return top;
  throw refused(`top is ${shown(top)}: use 1 to ${LIMITS.pathTop}.`);
}

function readPath(question: PathQuestion): Range {
  const { event, direction, gap_minutes: gap, levels } = question;
  if (typeof event !== "string" || event === "") throw refused("event is empty: name the event where paths begin.");
  checkSource(anchorOf(question));
  if (direction !== "after" && direction !== "before")
    throw refused(`direction is ${shown(direction)}: use after or before.`);
  if (!Number.isInteger(gap) || gap < 1 || gap > LIMITS.pathGapMinutes)
    throw refused(`gap_minutes is ${shown(gap)}: use 1 to ${LIMITS.pathGapMinutes}.`);
  if (!Number.isInteger(levels) || levels < 1 || levels > LIMITS.pathLevels)
    throw refused(`levels is ${shown(levels)}: use 1 to ${LIMITS.pathLevels}.`);
  pathTop(question);
  return readRange(question.date_list);
}

function anchorOf({ event, filter }: PathQuestion): Source {
  return { source: "event", event, ...(filter && { filter }) };
}

const MINUTE_MS = 60_000;

/**
 * The table `paths`: for each session with the event, the names from its first occurrence on, or back from its last.
 *
 * Every row gets the names and times of its neighbours in one pass over each user's events in order, which only sorts. Whole
 * sessions as lists took three times as long, and did not fit into memory.
 */
function pathTables(question: PathQuestion): Table[] {
  const range = readPath(question);
  const { event, filter, direction, gap_minutes, levels } = question;
  const inSegment = question.segment !== undefined;
  const anchored = rowsOf({ source: anchorOf(question), range, columns: [duck`e.client_id`], inSegment });
  const isAnchor = filter
    ? duck`e.event = ${event} and coalesce(${filterSql(filter, "event")}, false)`
    : duck`e.event = ${event}`;
  const neighbour = direction === "after" ? duck`lead` : duck`lag`;
  const places = Array.from({ length: levels }, (_, index) => index + 1);
  const events = rowsOf({
    source: { source: "event" },
    range,
    columns: [
      duck`e.client_id`,
      duck`e.event`,
      duck`epoch_ms(e."time") as time_0`,
      duck`${isAnchor} as is_anchor`,
      duck`row_number() over in_time as position`,
      duck`epoch_ms(e."time") - lag(epoch_ms(e."time")) over in_time > ${gap_minutes * MINUTE_MS} as begins`,
      ...places.flatMap((place) => [
        duck`${neighbour}(e.event, ${place}) over in_time as ${named(`event_${place}`)}`,
        duck`${neighbour}(epoch_ms(e."time"), ${place}) over in_time as ${named(`time_${place}`)}`,
      ]),
    ],
    ofUser: readsUser(filter, "event"),
    conditions: [duck`e.client_id in (select client_id from anchored)`],
  });
  const chosen = direction === "after" ? duck`arg_min` : duck`arg_max`;
  const names = listed([duck`event`, ...places.map((place) => named(`event_${place}`))]);
  return [
    ...segmentTable(question.segment, range),
    { name: named("anchored"), of: anchored },
    {
      name: named("ordered"),
      of: duck`${events}
window in_time as (partition by e.client_id order by e."time", e.event, e.event_id)`,
    },
    {
      name: named("marked"),
      of: duck`select *, count(*) filter (begins) over (partition by client_id order by position) as session
from ordered
where begins or is_anchor`,
    },
    {
      name: named("paths"),
      of: duck`select client_id, ${chosen}([${names}][1 : ${reachOf(places, gap_minutes)} + 1], position) as path
from marked
where is_anchor
group by client_id, session`,
    },
  ];
}

/** How many neighbours belong to the same session: up to the first that is missing or too far from the one before. */
function reachOf(places: readonly number[], gapMinutes: number): Duck {
  const time = (place: number) => named(`time_${place}`);
  const ends = places.map((place) => {
    const apart = duck`abs(${time(place)} - ${time(place - 1)})`;
    return duck`when coalesce(${apart} > ${gapMinutes * MINUTE_MS}, true) then ${place - 1}`;
  });
  return duck`case
    ${clauses(ends)}
    else ${places.length}
  end`;
}
