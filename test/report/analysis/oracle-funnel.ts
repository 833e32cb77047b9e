import type { FunnelAnswer, FunnelCell, FunnelQuestion } from "../../../src/contract/analysis/funnel.ts";
import type { Source } from "../../../src/contract/analysis/question.ts";
import { byBytes } from "./luck.ts";
import type { Market } from "./market.ts";
import { type Fact, factsOf, isOfSource, textOfValue, valueOfField } from "./oracle-filter.ts";
import { membersOf } from "./oracle-segment.ts";

/** A user's way through the funnel: the times of the steps that were reached, and the group of the entry. */
type Way = { client: string; times: number[]; group: string };
type Group = FunnelAnswer["groups"][number];

export function expectedFunnel(market: Market, question: FunnelQuestion): FunnelAnswer {
  const ways = waysOf(market, question);
  const count = question.steps.length;
  const all: Group = { kind: "all", group: "", steps: stepsOf(ways, count) };
  if (question.split === undefined) return { groups: [all] };
  const names = shownGroups(ways, question.top ?? 10);
  const others = ways.filter(({ group }) => !names.includes(group));
  return {
    groups: [
      all,
      ...names.map((name): Group => {
        const own = ways.filter(({ group }) => group === name);
        return { kind: "group", group: name, steps: stepsOf(own, count) };
      }),
      ...(others.length > 0 ? [{ kind: "other" as const, group: "", steps: stepsOf(others, count) }] : []),
    ],
  };
}

export function expectedFunnelUsers(market: Market, question: FunnelQuestion, cell: FunnelCell): string[] {
  const ways = waysOf(market, question);
  const names = shownGroups(ways, question.top ?? 10);
  return ways
    .filter(({ group }) =>
      cell.kind === "all" ? true : cell.kind === "group" ? group === cell.group : !names.includes(group),
    )
    .filter(({ times }) => (cell.end === "reached" ? times.length > cell.step : times.length === cell.step + 1))
    .map(({ client }) => client)
    .sort(byBytes);
}

function shownGroups(ways: readonly Way[], top: number): string[] {
  const size = (name: string) => ways.filter(({ group }) => group === name).length;
  return [...new Set(ways.map(({ group }) => group))]
    .sort((one, other) => size(other) - size(one) || byBytes(one, other))
    .slice(0, top);
}

function stepsOf(ways: readonly Way[], count: number): Group["steps"] {
  const reached = (step: number) => ways.filter(({ times }) => times.length > step);
  return Array.from({ length: count }, (_, step) => {
    const own = reached(step);
    const before = step === 0 ? own.length : reached(step - 1).length;
    const waits = step === 0 ? [] : own.map(({ times }) => times[step]! - times[step - 1]!).sort((a, b) => a - b);
    return {
      users: own.length,
      dropped: step === count - 1 ? 0 : own.length - reached(step + 1).length,
      conversion: ways.length === 0 ? null : own.length / ways.length,
      step_conversion: before === 0 ? null : own.length / before,
      average_ms: waits.length === 0 ? null : waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
      median_ms: waits.length === 0 ? null : waits[Math.ceil(waits.length / 2) - 1]!,
    };
  });
}

function waysOf(market: Market, question: FunnelQuestion): Way[] {
  const { steps, window_minutes, date_list, split } = question;
  const isMember = membersOf(question.segment, date_list, market);
  const facts = factsOf(market).filter(({ client }) => isMember(client));
  const clients = [...new Set(facts.map(({ client }) => client))];
  return clients.flatMap((client) => {
    const own = facts.filter((fact) => fact.client === client);
    const matching = steps.map((step) => own.filter((fact) => isOfSource(step, fact, market)));
    const entries = matching[0]!.filter(({ day }) => day >= date_list[0]! && day <= date_list[1]!);
    const ways = entries.map((entry): Way => {
      const times = timesFrom(entry, { steps, matching, untilMs: entry.ms + window_minutes * 60_000 });
      const group = split === undefined ? "" : textOfValue(valueOfField(split, entry, market));
      return { client, times, group };
    });
    const [best] = ways.sort(
      (one, other) =>
        other.times.length - one.times.length || one.times[0]! - other.times[0]! || byBytes(one.group, other.group),
    );
    return best ? [best] : [];
  });
}

type Known = { steps: readonly Source[]; matching: readonly Fact[][]; untilMs: number };

function timesFrom(entry: Fact, { steps, matching, untilMs }: Known): number[] {
  const times = [entry.ms];
  const mayShare = steps.every((one, index) => steps.slice(index + 1).every((other) => !couldBeOne(one, other)));
  for (let step = 1; step < steps.length; step += 1) {
    const before = times[step - 1]!;
    const [next] = matching[step]!.map(({ ms }) => ms)
      .filter((ms) => (mayShare ? ms >= before : ms > before) && ms <= untilMs)
      .sort((one, other) => one - other);
    if (next === undefined) return times;
    times.push(next);
  }
  return times;
}

/** Whether one event could be both steps. */
function couldBeOne(one: Source, other: Source): boolean {
  if (one.source !== other.source) return false;
  return one.source === "order" || one.event === undefined || other.event === undefined || one.event === other.event;
}
