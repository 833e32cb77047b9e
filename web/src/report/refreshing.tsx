import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTexts } from "../texts.ts";
import { texts } from "../ui/texts.ts";

/** What is shown while newer is on its way: paler, and with a bar at the top of the page as soon as it takes long. */
export function Refreshing({ query, children }: { query: UseQueryResult; children: ReactNode }) {
  const text = useTexts(texts);
  return (
    <div className={`stack ${query.isPlaceholderData ? "stale" : ""}`} aria-busy={query.isFetching}>
      {query.isPlaceholderData && <progress className="refreshing" aria-label={text.loading} />}
      {children}
    </div>
  );
}
