import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Refreshing } from "../../../report/refreshing.tsx";
import { Progress } from "../../../ui/progress.tsx";
import type { Asked } from "./answer-query.ts";
import { AsSql } from "./as-sql.tsx";

type SettledProps<Answered> = { query: UseQueryResult<Answered>; children: (asked: Answered) => ReactNode };

/** An answer with its statement below. A refusal is shown in the question. */
export function Settled<Answered extends Pick<Asked<object, object>, "sql">>({
  query,
  children,
}: SettledProps<Answered>) {
  if (query.isError) return null;
  if (query.data === undefined) return <Progress />;
  return (
    <Refreshing query={query}>
      {children(query.data)}
      <AsSql sql={query.data.sql} />
    </Refreshing>
  );
}
