import type { PathAnswer, PathQuestion } from "../../../../../src/contract/analysis/path.ts";

export type PathNode = PathAnswer["nodes"][number];
export type PathLink = PathAnswer["links"][number];

export type PlacedNode = {
  node: PathNode;
  x: number;
  y: number;
  height: number;
  /** Its room, which is at least that of its label. */
  slot: number;
  /** The height of the sessions that go no further, at the bottom. */
  ended: number;
};
export type PlacedLink = { link: PathLink; from: PlacedNode; to: PlacedNode; curve: string; thickness: number };
export type Layout = { width: number; height: number; nodes: PlacedNode[]; links: PlacedLink[] };

export const BAR_WIDTH = 12;
/** Two lines of text. */
const SLOT = 40;
const GAP = 8;
/** The height of all sessions. */
const FLOW = 300;

/**
 * Places each level in a column: the event itself on the left with what follows to the right of it, or on the right with
 * what precedes to the left. Heights are in proportion to sessions. Links leave and reach a node in the order of the nodes
 * at their other ends, so that those of one node do not cross.
 */
export function layoutOf(
  { nodes, links }: PathAnswer,
  direction: PathQuestion["direction"],
  columnWidth: number,
): Layout {
  const columns = columnsOf(nodes);
  const unit = FLOW / Math.max(1, sum(columns[0]?.map(({ sessions }) => sessions) ?? []));
  const placed = columns.flatMap((column, level) => {
    const x = (direction === "after" ? level : columns.length - 1 - level) * columnWidth;
    return stacked(column, { x, unit });
  });
  return {
    width: columns.length * columnWidth,
    height: Math.max(0, ...placed.map(({ y, slot }) => y + slot)),
    nodes: placed,
    links: linked(links, placed, { direction, unit }),
  };
}

/** The nodes of each level. There is none beyond the last event of the longest path. */
export function columnsOf(nodes: readonly PathNode[]): PathNode[][] {
  const last = Math.max(-1, ...nodes.map(({ level }) => level));
  return Array.from({ length: last + 1 }, (_, level) => nodes.filter((node) => node.level === level));
}

function stacked(column: readonly PathNode[], { x, unit }: { x: number; unit: number }): PlacedNode[] {
  let y = 0;
  return column.map((node) => {
    const height = Math.max(2, node.sessions * unit);
    const slot = Math.max(SLOT, height);
    const placed = { node, x, y, height, slot, ended: node.ended * unit };
    y += slot + GAP;
    return placed;
  });
}

type Linking = { direction: PathQuestion["direction"]; unit: number };

function linked(links: readonly PathLink[], placed: readonly PlacedNode[], { direction, unit }: Linking): PlacedLink[] {
  const byKey = new Map(placed.map((one) => [keyOf(one.node), one]));
  const left = new Map<PlacedNode, number>();
  const reached = new Map<PlacedNode, number>();
  return links.flatMap((link) => {
    const from = byKey.get(keyOf({ level: link.level, ...link.from }));
    const to = byKey.get(keyOf({ level: link.level + 1, ...link.to }));
    if (!from || !to) return [];
    const thickness = link.sessions * unit;
    const [leaves, reaches] = [left.get(from) ?? 0, reached.get(to) ?? 0];
    left.set(from, leaves + thickness);
    reached.set(to, reaches + thickness);
    const [x1, x2] = direction === "after" ? [from.x + BAR_WIDTH, to.x] : [from.x, to.x + BAR_WIDTH];
    const [y1, y2] = [from.y + leaves + thickness / 2, to.y + reaches + thickness / 2];
    const middle = (x1 + x2) / 2;
    return [{ link, from, to, thickness, curve: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` }];
  });
}

/** The name of a node within an answer. */
export function keyOf({ level, event, is_other }: Pick<PathNode, "level" | "event" | "is_other">): string {
  return JSON.stringify([level, is_other, event]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
