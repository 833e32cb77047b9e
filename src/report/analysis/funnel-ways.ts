import type { FunnelQuestion } from "../../contract/analysis/funnel.ts";
import type { Source } from "../../contract/analysis/question.ts";
import { addDays } from "../../domain/calendar.ts";
import { LIMITS } from "../../limits.ts";
import { clauses, type Duck, duck, listed, named, type Table } from "./duck-sql.ts";
import { isOfUser, readField, textField } from "./field.ts";
import { topOf } from "./group-sql.ts";
import { type Range, readRange } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { segmentTable } from "./segment-sql.ts";
import { checkSource, rowsOf } from "./source-sql.ts";
import { USER_NUMBER } from "./users-sql.ts";

export type AskedFunnel = Omit<FunnelQuestion, "top"> & { range: Range; top: number };

export function readFunnel(question: FunnelQuestion): AskedFunnel {
  const { steps, window_minutes: minutes, split } = question;
  const range = readRange(question.date_list);
  if (!Array.isArray(steps) || steps.length < 2) throw refused("A funnel has at least two steps: add one.");
  if (steps.length > LIMITS.funnelSteps)
    throw refused(`A funnel has at most ${LIMITS.funnelSteps} steps: remove some.`);
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > LIMITS.funnelMinutes)
    throw refused(`window_minutes is ${shown(minutes)}: use 1 to ${LIMITS.funnelMinutes}, which is 90 days.`);
  steps.forEach(checkSource);
  if (split !== undefined) readField(split, steps[0]!.source);
  return { ...question, range, top: topOf(question.top) };
}

export function timeName(step: number): Duck {
  return named(`time_${step}`);
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/**
 * The table `ways`: for each user the times of the steps in milliseconds, null from the first that was not reached.
 *
 * A way is first followed from the user's first entry without a window. No other entry gets further than this way, because
 * each of its steps would be as late or later. So where the whole way is within the window it is the user's. Only the other
 * users' entries are followed one by one, each to the next time of a step by an ASOF join, which sorts: those from which the
 * first step that came too late can be reached within the window. Earlier ones, and those after its last time, get no further
 * than the first entry. The shorter the window, the more users are left for it. Users are numbered first, because a text as a
 * key costs as much as all the rest.
 * What stands on the right of a join is held in memory, so that is the smaller side (see `joins` in lake/ask.ts).
 * All tables can be put on the disk: lists of the times of 12 million steps did not fit into 256 MB.
 */
export function waysTables(asked: AskedFunnel): Table[] {
  const count = asked.steps.length;
  const steps = Array.from({ length: count }, (_, index) => index + 1);
  const later = steps.slice(1);
  const windowMs = asked.window_minutes * MINUTE_MS;
  const isInWindow = (step: number) => duck`${timeName(step)} <= time_1 + ${windowMs}`;
  const within = (step: number) => duck`case when ${isInWindow(step)} then ${timeName(step)} end as ${timeName(step)}`;
  const firstLate = (name: (step: number) => Duck) =>
    duck`coalesce(${listed(later.map((step) => duck`case when not ${isInWindow(step)} then ${name(step)} end`))})`;
  const overshoots = duck`greatest(${listed(steps.map(timeName))}) > time_1 + ${windowMs}`;
  // A step weighs more than any time, so the entry that gets furthest is chosen, and the earliest of those. Whatever its times
  // are, they are all taken from that entry; in a struct, they would take a twentieth more of the whole.
  const depth = duck`(${plus(steps.map((step) => duck`cast(${timeName(step)} is not null as bigint)`))})`;
  const best = duck`select client_id, ${listed(steps.map(timeName))}
from (
  select number, ${listed(steps.map((step) => duck`arg_max_null(${timeName(step)}, weight) as ${timeName(step)}`))}
  from (
    select *, ${depth} * 100000000000000 - time_1 as weight
    from (
      select number, ${listed(steps.map(timeName))} from ${named(`entry_${count}`)}
      union all
      select number, time_1, ${listed(later.map(within))} from rest
    )
  )
  group by number
)
join (select number, client_id from rest) using (number)`;
  const ways = duck`select client_id, ${listed(steps.map(timeName))}
from firsts
where not coalesce(${overshoots}, false)
union all
${best}`;
  const rest = duck`select *, ${firstLate(timeName)} - ${windowMs} as since, ${firstLate(lastName)} as until
from firsts
where ${overshoots}`;
  return [
    ...segmentTable(asked.segment, asked.range),
    { name: named("first_1"), kept: "kept", of: firstEntries(asked) },
    ...later.flatMap((step): Table[] => [
      { name: stepName(step), kept: "kept", of: timesOf(asked, step) },
      { name: firstName(step), kept: "kept", of: firstTimes(asked, step) },
    ]),
    { name: named("firsts"), kept: "kept", of: firstWays(steps) },
    { name: named("rest"), kept: "kept", of: rest },
    { name: named("entry_1"), of: entriesOfRest(asked) },
    ...later.map((step) => ({ name: named(`entry_${step}`), of: nextStep(asked, step) })),
    ...(asked.split === undefined ? [{ name: named("ways"), of: ways }] : splitWays(asked, asked.split, ways)),
  ];
}

function firstName(step: number): Duck {
  return named(`first_${step}`);
}

/** The last time of a step, however late. */
function lastName(step: number): Duck {
  return named(`last_${step}`);
}

function stepName(step: number): Duck {
  return named(`step_${step}`);
}

const EVENT_MS = duck`epoch_ms(e."time")`;

/** Every user with a number, and the time of the first entry. */
function firstEntries({ steps, range, segment }: AskedFunnel): Duck {
  const entries = rowsOf({
    source: steps[0]!,
    range,
    columns: [duck`e.client_id`, duck`min(${EVENT_MS}) as time_1`],
    inSegment: segment !== undefined,
  });
  return duck`select *, ${USER_NUMBER} as number
from (
  ${entries}
  group by e.client_id
)`;
}

/**
 * The times of a later step, from a user's first entry on. They may follow the range by the window; a clock change can move
 * them by one more day.
 */
function timesOf(asked: AskedFunnel, step: number): Duck {
  const { steps, range, window_minutes } = asked;
  const moreDays = Math.ceil(window_minutes / DAY_MINUTES) + 1;
  return rowsOf({
    source: steps[step - 1]!,
    range: { fromDay: range.fromDay, toDay: addDays(range.toDay, moreDays) },
    columns: [duck`f.number`, duck`${EVENT_MS} as ${timeName(step)}`],
    join: duck`join first_1 f on f.client_id = e.client_id`,
    conditions: [isLater(asked, EVENT_MS, duck`f.time_1`)],
  });
}

/** The first time of a step after that of the step before. Those of the second step all follow the first entry. */
function firstTimes(asked: AskedFunnel, step: number): Duck {
  if (step === 2)
    return duck`select number, min(time_2) as time_2, max(time_2) as last_2
from step_2
group by number`;
  const [time, before] = [duck`s.${timeName(step)}`, duck`f.${timeName(step - 1)}`];
  return duck`select number, min(${time}) as ${timeName(step)}, max(${time}) as ${lastName(step)}
from ${stepName(step)} s
join ${firstName(step - 1)} f using (number)
where ${isLater(asked, time, before)}
group by number`;
}

function firstWays(steps: readonly number[]): Duck {
  return clauses([
    duck`select ${listed([duck`number`, duck`client_id`, ...steps.map(timeName), ...steps.slice(1).map(lastName)])}`,
    duck`from first_1`,
    ...steps.slice(1).map((step) => duck`left join ${firstName(step)} using (number)`),
  ]);
}

/** The later entries that are followed. */
function entriesOfRest({ steps, range }: AskedFunnel): Duck {
  return rowsOf({
    source: steps[0]!,
    range,
    columns: [duck`r.number`, duck`${EVENT_MS} as time_1`],
    join: duck`join rest r on r.client_id = e.client_id`,
    conditions: [duck`${EVENT_MS} between r.since and r.until`],
  });
}

/** An ASOF join finds a row for a missing time, too, if both sides are sorted: no event is as late as the greatest number. */
function nextStep(asked: AskedFunnel, step: number): Duck {
  const windowMs = asked.window_minutes * MINUTE_MS;
  const before = duck`a.${timeName(step - 1)}`;
  const known = step === 2 ? before : duck`coalesce(${before}, ${Number.MAX_SAFE_INTEGER})`;
  const time = duck`b.${timeName(step)}`;
  const own = duck`s.${timeName(step)}`;
  // From a second step after `until`, the step that came too late cannot be reached.
  const isOfUse = step === 2 ? duck`${own} between r.since and r.until` : duck`${own} >= r.since`;
  return duck`select a.*, case when ${time} <= a.time_1 + ${windowMs} then ${time} end as ${timeName(step)}
from ${named(`entry_${step - 1}`)} a
asof left join (select s.* from ${stepName(step)} s join rest r on r.number = s.number and ${isOfUse}) b
  on b.number = a.number and ${isLater(asked, time, known)}`;
}

/** Whether a step is late enough. See the contract for steps in the same millisecond. */
function isLater({ steps }: AskedFunnel, time: Duck, before: Duck): Duck {
  return mayShareTime(steps) ? duck`${time} >= ${before}` : duck`${time} > ${before}`;
}

function mayShareTime(steps: readonly Source[]): boolean {
  const keys = steps.map(({ source, event }) =>
    source === "order" ? "order" : event === undefined ? "" : `event ${event}`,
  );
  const hasAny = keys.includes("");
  const isRepeated = new Set(keys).size < keys.length;
  const events = keys.filter((key) => key !== "order").length;
  return !isRepeated && !(hasAny && events > 1);
}

/** Users with the group of their entry. Of several first steps in the same millisecond, the least text counts. */
function splitWays(asked: AskedFunnel, split: string, ways: Duck): Table[] {
  const [first] = asked.steps;
  const field = readField(split, first!.source);
  const text = textField(field, first!.source);
  const followed = { name: named("followed"), of: ways };
  if (isOfUser(field)) {
    const grouped = duck`select w.*, ${text} as group_1
from followed w
left join users u on u.client_id = w.client_id`;
    return [followed, { name: named("ways"), of: grouped }];
  }
  const entries = rowsOf({
    source: first!,
    range: asked.range,
    columns: [duck`e.client_id`, duck`epoch_ms(e."time") as time_1`, duck`${text} as group_1`],
    inSegment: asked.segment !== undefined,
  });
  const grouped = duck`select w.*, min(e.group_1) as group_1
from entries e
join followed w on w.client_id = e.client_id and w.time_1 = e.time_1
group by all`;
  return [followed, { name: named("entries"), of: entries }, { name: named("ways"), of: grouped }];
}

function plus(parts: readonly Duck[]): Duck {
  return parts.reduce((sum, part) => duck`${sum} + ${part}`);
}
