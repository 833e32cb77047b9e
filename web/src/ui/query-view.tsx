import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failure } from "./failure.tsx";
import { Progress } from "./progress.tsx";

/** What was asked for, or how far it is, or why it is not there. What is shown stays while newer is fetched. */
export function QueryView<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) {
    return (
      <>
        {query.isError && <Failure error={query.error} onRetry={() => query.refetch()} />}
        {children(query.data)}
      </>
    );
  }
  if (query.isError) return <Failure error={query.error} onRetry={() => query.refetch()} />;
  return <Progress />;
}
