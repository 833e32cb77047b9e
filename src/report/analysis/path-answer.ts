import type { PathAnswer, PathQuestion } from "../../contract/analysis/path.ts";
import { pathTop } from "./path-sql.ts";
import { numberOrNull, type Row, textOr } from "./row.ts";

type Pair = { level: number; event: string; next: string | undefined; sessions: number };
type Shown = PathAnswer["links"][number]["from"];
type Node = PathAnswer["nodes"][number];

/** The answer, from the rows of `pathSql`. */
export function pathAnswer(question: PathQuestion, rows: readonly Row[]): PathAnswer {
  const pairs = rows.map(
    (row): Pair => ({
      level: numberOrNull(row.level) ?? 0,
      event: textOr(row.event, ""),
      next: row.next_event === null ? undefined : textOr(row.next_event, ""),
      sessions: numberOrNull(row.sessions) ?? 0,
    }),
  );
  const levels = Array.from({ length: question.levels + 1 }, (_, level) =>
    nodesOf(
      pairs.filter((pair) => pair.level === level),
      { level, top: pathTop(question), isLast: level === question.levels },
    ),
  );
  return { nodes: levels.flat(), links: linksOf(pairs, levels) };
}

/** The nodes of a level: the most frequent events, then all others. */
function nodesOf(
  pairs: readonly Pair[],
  { level, top, isLast }: { level: number; top: number; isLast: boolean },
): Node[] {
  const nodes = new Map<string, Node>();
  for (const { event, next, sessions } of pairs) {
    const node = nodes.get(event) ?? { level, event, is_other: false, sessions: 0, ended: 0 };
    node.sessions += sessions;
    if (next === undefined && !isLast) node.ended += sessions;
    nodes.set(event, node);
  }
  const ranked = [...nodes.values()].sort(
    (one, other) => other.sessions - one.sessions || byBytes(one.event, other.event),
  );
  const others = ranked.slice(top);
  if (others.length === 0) return ranked;
  const sum = (of: (node: Node) => number) => others.reduce((total, node) => total + of(node), 0);
  const other: Node = {
    level,
    event: "",
    is_other: true,
    sessions: sum(({ sessions }) => sessions),
    ended: sum(({ ended }) => ended),
  };
  return [...ranked.slice(0, top), other];
}

function linksOf(pairs: readonly Pair[], levels: readonly Node[][]): PathAnswer["links"] {
  const counts = new Map<string, number>();
  const placeOf = (level: number, event: string) => {
    const nodes = levels[level]!;
    const place = nodes.findIndex((node) => !node.is_other && node.event === event);
    return place < 0 ? nodes.length - 1 : place;
  };
  for (const { level, event, next, sessions } of pairs) {
    if (next === undefined) continue;
    const key = JSON.stringify([level, placeOf(level, event), placeOf(level + 1, next)]);
    counts.set(key, (counts.get(key) ?? 0) + sessions);
  }
  const shown = ({ event, is_other }: Node): Shown => ({ event, is_other });
  return [...counts]
    .map(([key, sessions]) => ({ place: JSON.parse(key) as [number, number, number], sessions }))
    .sort(({ place: one }, { place: other }) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2])
    .map(({ place: [level, from, to], sessions }) => ({
      level,
      from: shown(levels[level]![from]!),
      to: shown(levels[level + 1]![to]!),
      sessions,
    }));
}

/** As the database sorts texts. */
function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
