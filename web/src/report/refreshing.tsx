import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTexts } from "../texts.ts";
import { texts } from "../ui/texts.ts";

/** Shows older content paler until newer arrives, with a bar at the top of the page if that takes long. */
export function Refreshing({ query, children }: { query: UseQueryResult; children: ReactNode }) {
  const text = useTexts(texts);
  return (
    <div className={`stack ${query.isPlaceholderData ? "stale" : ""}`} aria-busy={query.isFetching}>
      {query.isPlaceholderData && <progress className="refreshing" aria-label={text.loading} />}
      {children}
    </div>
  );
}
