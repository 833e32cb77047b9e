import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { SqlRows } from "../../../../src/contract/analysis/asked.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { remember } from "./history.ts";

export type Running = {
  /** `cancelled`: by the person who has run it. */
  state:
    | { kind: "idle" }
    | { kind: "running" }
    | { kind: "cancelled" }
    | { kind: "failed"; error: unknown }
    | { kind: "answered"; rows: SqlRows };
  run: (statement: string) => void;
  cancel: () => void;
};

/** Runs one statement at a time. Cancelling ends the call, at which the server ends the query; so does leaving the page. */
export function useRunning(): Running {
  const { app_id } = useApp();
  const calling = useRef<AbortController>(undefined);
  const asking = useMutation({
    mutationFn: (statement: string) => {
      calling.current = new AbortController();
      return post<SqlRows>("analysis/sql", { app_id, statement }, calling.current.signal);
    },
  });
  const cancel = () => calling.current?.abort();
  useEffect(() => cancel, []);
  const run = (statement: string) => {
    if (asking.isPending || statement.trim() === "") return;
    remember(statement.trim());
    asking.mutate(statement);
  };
  return { state: stateOf(asking), run, cancel };
}

function stateOf(
  asking: Pick<ReturnType<typeof useMutation<SqlRows>>, "isPending" | "error" | "data">,
): Running["state"] {
  if (asking.isPending) return { kind: "running" };
  if (asking.error) {
    const isCancelled = asking.error instanceof DOMException && asking.error.name === "AbortError";
    return isCancelled ? { kind: "cancelled" } : { kind: "failed", error: asking.error };
  }
  return asking.data ? { kind: "answered", rows: asking.data } : { kind: "idle" };
}
