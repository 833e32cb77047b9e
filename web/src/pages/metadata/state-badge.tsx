import type { ShownEventMeta } from "../../../../src/contract/setting/metadata.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Empty } from "../../ui/empty.tsx";
import { texts } from "./texts.ts";

type State = ShownEventMeta["state"];

/** Names without a decision stand out. */
const TONES: Readonly<Record<State, Tone>> = { observed: "warn", declared: "good", disabled: "plain" };

export function StateBadge({ state }: { state: State }) {
  const text = useTexts(texts);
  return <Badge tone={TONES[state]}>{text.states[state]}</Badge>;
}

export function NothingHere({ isFiltered }: { isFiltered: boolean }) {
  const text = useTexts(texts);
  return (
    <Empty title={isFiltered ? text.noneFound : text.none}>{isFiltered ? undefined : <p>{text.noneHelp}</p>}</Empty>
  );
}
