import type { Source } from "../../../../src/contract/analysis/question.ts";
import type { Days } from "../../ui/date-range.tsx";
import { parsed, type UrlState } from "./state.ts";

/** What every tab of the page is given. */
export type TabProps = { url: UrlState; days: Days; onChange: (changes: Partial<UrlState>) => void };

/** The sources in the address, or others if it has fewer than these. */
export function sourcesOf(text: string, others: readonly Source[]): readonly Source[] {
  const found = parsed(text);
  const sources = (Array.isArray(found) ? found : []).filter(isSource);
  return sources.length < others.length ? others : sources;
}

function isSource(value: unknown): value is Source {
  const { source } = (value ?? {}) as Partial<Source>;
  return source === "event" || source === "order";
}
