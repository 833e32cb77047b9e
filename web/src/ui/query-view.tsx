import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failure } from "./failure.tsx";
import { Progress } from "./progress.tsx";

/** The data of a query, or its progress, or why it failed. Data stays visible while newer is fetched. */
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
