import type { PathAnswer, PathCell, PathQuestion } from "../../../src/contract/analysis/path.ts";
import { byBytes } from "./luck.ts";
import type { Market } from "./market.ts";
import { type Fact, factsOf, isOfSource } from "./oracle-filter.ts";
import { membersOf } from "./oracle-segment.ts";

type Path = { client: string; names: string[] };
type Shown = { event: string; is_other: boolean };

export function expectedPaths(market: Market, question: PathQuestion): PathAnswer {
  const paths = pathsOf(market, question);
  const { levels, top = 5 } = question;
  const numbers = Array.from({ length: levels + 1 }, (_, level) => level);
  const shownAt = numbers.map((level) => {
    const names = paths.map(({ names: all }) => all[level]).filter((name) => name !== undefined);
    const count = (name: string) => names.filter((one) => one === name).length;
    const ranked = [...new Set(names)].sort((one, other) => count(other) - count(one) || byBytes(one, other));
    const shown = ranked.slice(0, top).map((event): Shown => ({ event, is_other: false }));
    return ranked.length > top ? [...shown, { event: "", is_other: true }] : shown;
  });
  const isAt = (path: Path, level: number, { event, is_other }: Shown) => {
    const name = path.names[level];
    if (name === undefined) return false;
    return is_other ? !shownAt[level]!.some((one) => !one.is_other && one.event === name) : name === event;
  };
  const nodes = numbers.flatMap((level) =>
    shownAt[level]!.map((one) => {
      const own = paths.filter((path) => isAt(path, level, one));
      const ended = level === levels ? 0 : own.filter(({ names }) => names.length === level + 1).length;
      return { level, ...one, sessions: own.length, ended };
    }),
  );
  const links = numbers.slice(0, -1).flatMap((level) =>
    shownAt[level]!.flatMap((from) =>
      shownAt[level + 1]!.map((to) => {
        const sessions = paths.filter((path) => isAt(path, level, from) && isAt(path, level + 1, to)).length;
        return { level, from, to, sessions };
      }),
    ),
  );
  return { nodes, links: links.filter(({ sessions }) => sessions > 0) };
}

export function expectedPathUsers(market: Market, question: PathQuestion, { level, event, to }: PathCell): string[] {
  const own = pathsOf(market, question).filter(
    ({ names }) => names[level] === event && (to === undefined || names[level + 1] === to),
  );
  return [...new Set(own.map(({ client }) => client))].sort(byBytes);
}

function pathsOf(market: Market, question: PathQuestion): Path[] {
  const [from = "", to = ""] = question.date_list;
  const isMember = membersOf(question.segment, question.date_list, market);
  const facts = factsOf(market).filter(
    ({ event, client, day }) => event?.type === "track" && isMember(client) && day >= from && day <= to,
  );
  const anchor = { source: "event" as const, event: question.event, filter: question.filter };
  return [...new Set(facts.map(({ client }) => client))].flatMap((client) => {
    const own = facts.filter((fact) => fact.client === client).sort(inTime);
    return sessionsOf(own, question.gap_minutes * 60_000).flatMap((session) => {
      const walked = question.direction === "after" ? session : session.toReversed();
      // The first match going forward, or the first going back from the end.
      const matches = walked.map((fact) => isOfSource(anchor, fact, market));
      const at = matches.indexOf(true);
      if (at < 0) return [];
      const rest = walked.slice(at, at + question.levels + 1);
      return [{ client, names: rest.map(({ event }) => event!.event) }];
    });
  });
}

function inTime(one: Fact, other: Fact): number {
  return one.ms - other.ms || byBytes(one.event!.event, other.event!.event) || byBytes(one.event!.id, other.event!.id);
}

function sessionsOf(facts: readonly Fact[], gapMs: number): Fact[][] {
  const sessions: Fact[][] = [];
  facts.forEach((fact, index) => {
    if (index === 0 || fact.ms - facts[index - 1]!.ms > gapMs) sessions.push([]);
    sessions.at(-1)!.push(fact);
  });
  return sessions;
}
