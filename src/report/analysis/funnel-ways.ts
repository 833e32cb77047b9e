import type { FunnelQuestion } from "../../contract/analysis/funnel.ts";
import type { Source } from "../../contract/analysis/question.ts";
import { addDays } from "../../domain/calendar.ts";
import { LIMITS } from "../../limits.ts";
import { clauses, type Duck, duck, lines, listed, named, type Table } from "./duck-sql.ts";
import { isOfUser, readField, textField } from "./field.ts";
import { topOf } from "./group-sql.ts";
import { type Range, readRange } from "./range.ts";
import { refused, shown } from "./refusal.ts";
import { segmentTable } from "./segment-sql.ts";
import { checkSource, rowsOf } from "./source-sql.ts";

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
 * The times of each step are gathered per user, and a way is followed from the first entry without a window. No other entry
 * gets further than this way, because each of its steps would be as late or later. So where the whole way is within the
 * window it is the user's. Only the other users' entries are followed one by one, each to the next time of a step by an
 * ASOF join, which sorts: for all users it took twice the processor time (20 million events, window of 7 days). The shorter
 * the window, the more users are left for it.
 */
export function waysTables(asked: AskedFunnel): Table[] {
  const count = asked.steps.length;
  const steps = Array.from({ length: count }, (_, index) => index + 1);
  const gathered = steps.map((step) => ({ name: named(`step_${step}`), of: gatheredTimes(asked, step) }));
  const followed = steps.slice(1).map((step) => ({ name: named(`first_${step}`), of: followedFirst(asked, step) }));
  const windowMs = asked.window_minutes * MINUTE_MS;
  const last = named(`first_${count}`);
  const overshoots = duck`greatest(${listed(steps.map(timeName))}) > time_1 + ${windowMs}`;
  const times = steps.map((step) => named(`times_${step}`));
  const rest = duck`select row_number() over () as number, client_id, ${listed(times)}
from ${last}
where ${overshoots}`;
  const entries = duck`select number, unnest(times_1) as time_1 from rest`;
  const joined = steps.slice(1).map((step) => ({ name: named(`entry_${step}`), of: nextStep(asked, step) }));
  const fields = steps.map((step) => duck`${timeName(step)} := ${timeName(step)}`);
  // A step weighs more than any time, so the entry that gets furthest is chosen, and the earliest of those.
  const depth = duck`(${plus(steps.map((step) => duck`cast(${timeName(step)} is not null as bigint)`))})`;
  const best = duck`select client_id, ${listed(steps.map((step) => duck`best.${timeName(step)}`))}
from (
  select number, arg_max(struct_pack(${listed(fields)}), ${depth} * 100000000000000 - time_1) as best
  from ${named(`entry_${count}`)}
  group by number
)
join rest using (number)`;
  const ways = duck`select client_id, ${listed(steps.map(timeName))}
from ${last}
where not ${overshoots}
union all
${best}`;
  return [
    ...segmentTable(asked.segment, asked.range),
    ...gathered,
    { name: named("first_1"), of: firstEntries(steps) },
    ...followed,
    { name: named("rest"), of: rest },
    { name: named("entry_1"), of: entries },
    ...joined,
    ...(asked.split === undefined ? [{ name: named("ways"), of: ways }] : splitWays(asked, asked.split, ways)),
  ];
}

/** The times of a step. Later steps may follow the range by the window; a clock change can move them by one more day. */
function gatheredTimes({ steps, range, window_minutes, segment }: AskedFunnel, step: number): Duck {
  const moreDays = step === 1 ? 0 : Math.ceil(window_minutes / DAY_MINUTES) + 1;
  const rows = rowsOf({
    source: steps[step - 1]!,
    range: { fromDay: range.fromDay, toDay: addDays(range.toDay, moreDays) },
    columns: [duck`e.client_id`, duck`list(epoch_ms(e."time")) as times`],
    inSegment: segment !== undefined,
  });
  return duck`${rows}
group by e.client_id`;
}

function firstEntries(steps: readonly number[]): Duck {
  const later = steps.slice(1);
  return clauses([
    duck`select
  ${lines([
    duck`s1.client_id`,
    ...steps.map((step) => duck`${named(`s${step}`)}.times as ${named(`times_${step}`)}`),
    duck`list_min(s1.times) as time_1`,
  ])}`,
    duck`from step_1 s1`,
    ...later.map((step) => {
      const alias = named(`s${step}`);
      return duck`left join ${named(`step_${step}`)} ${alias} on ${alias}.client_id = s1.client_id`;
    }),
  ]);
}

function followedFirst(asked: AskedFunnel, step: number): Duck {
  const late = isLater(asked, duck`t`, timeName(step - 1));
  return duck`select *, list_min(list_filter(${named(`times_${step}`)}, lambda t: ${late})) as ${timeName(step)}
from ${named(`first_${step - 1}`)}`;
}

/** An ASOF join finds a row for a missing time, too, if both sides are sorted: no event is as late as the greatest number. */
function nextStep(asked: AskedFunnel, step: number): Duck {
  const windowMs = asked.window_minutes * MINUTE_MS;
  const before = duck`a.${timeName(step - 1)}`;
  const known = step === 2 ? before : duck`coalesce(${before}, ${Number.MAX_SAFE_INTEGER})`;
  return duck`select a.*, case when b.t <= a.time_1 + ${windowMs} then b.t end as ${timeName(step)}
from ${named(`entry_${step - 1}`)} a
asof left join (select number, unnest(${named(`times_${step}`)}) as t from rest) b
  on b.number = a.number and ${isLater(asked, duck`b.t`, known)}`;
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
from followed w
join entries e on e.client_id = w.client_id and e.time_1 = w.time_1
group by all`;
  return [followed, { name: named("entries"), of: entries }, { name: named("ways"), of: grouped }];
}

function plus(parts: readonly Duck[]): Duck {
  return parts.reduce((sum, part) => duck`${sum} + ${part}`);
}
