import type { Source } from "../../../../../src/contract/analysis/question.ts";
import { useTexts } from "../../../texts.ts";
import { texts } from "../texts.ts";

/** The events or orders in words. */
export function useSourceName(): (source: Source) => string {
  const text = useTexts(texts);
  return ({ source, event }) => (source === "order" ? text.sources.order : (event ?? text.everyEvent));
}
