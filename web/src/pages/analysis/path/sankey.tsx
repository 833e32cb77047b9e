import { type CSSProperties, type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { PathAnswer, PathCell, PathQuestion } from "../../../../../src/contract/analysis/path.ts";
import { useTexts } from "../../../texts.ts";
import type { Asked } from "../answer/answer-query.ts";
import { usePathNames } from "./path-names.ts";
import { pathTexts } from "./path-texts.ts";
import {
  BAR_WIDTH,
  columnsOf,
  keyOf,
  layoutOf,
  type PathNode,
  type PlacedLink,
  type PlacedNode,
} from "./sankey-layout.ts";
import "./sankey.css";

export type AskedPath = Asked<PathQuestion, PathAnswer>;
export type Opening = { onOpen: (cell: PathCell, title: string) => void };

/** Narrower columns would show little of a name: the drawing scrolls instead. */
const COLUMN_WIDTH_MIN = 150;
const COLOURS = 8;
/** How far the sessions that go no further stick out. */
const END_WIDTH = 6;

/**
 * Links and bars are SVG. Nodes are buttons over it, because they cut long names and take the keyboard. A click on a link
 * opens its users; by keyboard, the table below does.
 */
export function Sankey({ asked, onOpen }: Opening & { asked: AskedPath }) {
  const text = useTexts(pathTexts);
  const { question, answer } = asked;
  const { direction } = question;
  const frame = useRef<HTMLElement>(null);
  const [near, setNear] = useState<string>();
  const columnWidth = useColumnWidth(frame, columnsOf(answer.nodes).length);
  const layout = useMemo(() => layoutOf(answer, direction, columnWidth), [asked, columnWidth]);
  const colourOf = useMemo(() => coloursOf(answer.nodes), [asked]);
  useLayoutEffect(() => {
    // The event itself is in view first.
    if (frame.current) frame.current.scrollLeft = direction === "before" ? frame.current.scrollWidth : 0;
  }, [direction, layout.width]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard
    <section className="sankey-frame" ref={frame} aria-label={text.chart} tabIndex={0}>
      <Heads asked={asked} columnWidth={columnWidth} />
      <div className="sankey" style={{ width: layout.width, height: layout.height }}>
        <svg width={layout.width} height={layout.height} aria-hidden="true">
          {layout.links.map((placed) => (
            <Link
              key={`${keyOf(placed.from.node)} ${keyOf(placed.to.node)}`}
              placed={placed}
              question={question}
              colour={colourOf(placed.from.node)}
              isNear={near !== undefined && [placed.from.node, placed.to.node].some((node) => keyOf(node) === near)}
              onOpen={onOpen}
            />
          ))}
          {layout.nodes.map((placed) => (
            <Bar key={keyOf(placed.node)} placed={placed} direction={direction} colour={colourOf(placed.node)} />
          ))}
        </svg>
        {layout.nodes.map((placed) => (
          <NodeLabel
            key={keyOf(placed.node)}
            asked={asked}
            placed={placed}
            width={columnWidth}
            onNear={setNear}
            onOpen={onOpen}
          />
        ))}
      </div>
    </section>
  );
}

function Heads({ asked, columnWidth }: { asked: AskedPath; columnWidth: number }) {
  const { levelName } = usePathNames(asked.question);
  const levels = columnsOf(asked.answer.nodes).map((_, level) => level);
  const shown = asked.question.direction === "after" ? levels : levels.reverse();
  return (
    <div className="sankey-heads soft small" aria-hidden="true">
      {shown.map((level) => (
        <span key={level} style={{ width: columnWidth }}>
          {levelName(level)}
        </span>
      ))}
    </div>
  );
}

type LinkProps = Opening & { placed: PlacedLink; question: PathQuestion; colour: string; isNear: boolean };

function Link({ placed: { link, curve, thickness }, question, colour, isNear, onOpen }: LinkProps) {
  const names = usePathNames(question);
  const cell = names.cellOf(link);
  const open = cell && (() => onOpen(cell, names.linkName(link)));
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the table has the same links as buttons
    <path
      className={`sankey-link ${colour}${isNear ? " near" : ""}${open ? " opens" : ""}`}
      d={curve}
      strokeWidth={Math.max(1, thickness)}
      onClick={open}
    >
      <title>{names.linkTitle(link)}</title>
    </path>
  );
}

type BarProps = { placed: PlacedNode; direction: PathQuestion["direction"]; colour: string };

function Bar({ placed: { x, y, height, ended }, direction, colour }: BarProps) {
  return (
    <>
      <rect className={`sankey-bar ${colour}`} x={x} y={y} width={BAR_WIDTH} height={height} rx={2} />
      {ended > 0 && (
        <rect
          className="sankey-end"
          x={direction === "after" ? x + BAR_WIDTH : x - END_WIDTH}
          y={y + height - ended}
          width={END_WIDTH}
          height={ended}
        />
      )}
    </>
  );
}

type NodeLabelProps = Opening & {
  asked: AskedPath;
  placed: PlacedNode;
  width: number;
  onNear: (key: string | undefined) => void;
};

function NodeLabel({ asked, placed: { node, x, y, height }, width, onNear, onOpen }: NodeLabelProps) {
  const text = useTexts(pathTexts);
  const names = usePathNames(asked.question);
  const { sessions, share } = names.figures(node, asked.answer.nodes);
  const title = names.nodeTitle(node, asked.answer.nodes);
  const style = { left: x, top: y, maxWidth: width, "--bar": `${height}px` } as CSSProperties;
  const near = {
    onMouseEnter: () => onNear(keyOf(node)),
    onMouseLeave: () => onNear(undefined),
  };
  const label = (
    <>
      <b>{names.eventName(node)}</b> <span>{`${sessions} · ${share}`}</span>
    </>
  );
  // The users of events that are not shown cannot be asked for.
  if (node.is_other) {
    return (
      <div className="sankey-node" style={style} title={title} {...near}>
        {label}
      </div>
    );
  }
  return (
    <button
      type="button"
      className="sankey-node"
      style={style}
      title={title}
      aria-label={text.open(`${names.levelName(node.level)} · ${title}`)}
      {...near}
      onFocus={near.onMouseEnter}
      onBlur={near.onMouseLeave}
      onClick={() =>
        onOpen({ level: node.level, event: node.event }, `${names.levelName(node.level)} · ${names.eventName(node)}`)
      }
    >
      {label}
    </button>
  );
}

/** An event has the same colour at every level. */
function coloursOf(nodes: readonly PathNode[]): (node: PathNode) => string {
  const events = [...new Set(nodes.filter((node) => !node.is_other).map(({ event }) => event))];
  return ({ event, is_other }) => (is_other ? "flow-other" : `flow-${(events.indexOf(event) % COLOURS) + 1}`);
}

/** As wide as the frame allows. */
function useColumnWidth(frame: RefObject<HTMLElement | null>, columns: number): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return Math.max(COLUMN_WIDTH_MIN, Math.floor(width / Math.max(1, columns)));
}
