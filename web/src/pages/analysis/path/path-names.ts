import type { PathCell, PathQuestion } from "../../../../../src/contract/analysis/path.ts";
import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { pathTexts } from "./path-texts.ts";
import type { PathLink, PathNode } from "./sankey-layout.ts";

export type PathNames = {
  levelName: (level: number) => string;
  eventName: (event: Pick<PathNode, "event" | "is_other">) => string;
  linkName: (link: PathLink) => string;
  linkTitle: (link: PathLink) => string;
  /** The sessions of a node, and their share of all. */
  figures: (node: PathNode, nodes: readonly PathNode[]) => { sessions: string; share: string };
  nodeTitle: (node: PathNode, nodes: readonly PathNode[]) => string;
  /** The link as the server names it; undefined: it is of events that are not shown. */
  cellOf: (link: PathLink) => PathCell | undefined;
};

/** What the parts of an answer are called. */
export function usePathNames({ direction }: PathQuestion): PathNames {
  const text = useTexts(pathTexts);
  const { number, percent } = useFormat();
  const eventName: PathNames["eventName"] = ({ event, is_other }) => (is_other ? text.other : event);
  const linkName = ({ from, to }: PathLink) => {
    const [one, other] = direction === "after" ? [from, to] : [to, from];
    return `${eventName(one)} → ${eventName(other)}`;
  };
  const figures: PathNames["figures"] = ({ sessions }, nodes) => {
    const all = nodes.find(({ level }) => level === 0)?.sessions ?? sessions;
    return { sessions: number(sessions), share: percent(sessions / all) };
  };
  return {
    levelName: (level) => (level === 0 ? text.start : text.level[direction](level)),
    eventName,
    linkName,
    linkTitle: (link) => text.link(linkName(link), number(link.sessions)),
    figures,
    nodeTitle: (node, nodes) => {
      const title = text.node(eventName(node), figures(node, nodes));
      return node.ended > 0 ? `${title} · ${text.ended[direction](number(node.ended))}` : title;
    },
    cellOf: ({ level, from, to }) =>
      from.is_other || to.is_other ? undefined : { level, event: from.event, to: to.event },
  };
}
