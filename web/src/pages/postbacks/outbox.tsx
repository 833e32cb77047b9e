import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Postback, PostbackList } from "../../../../src/contract/setting/postback.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useUrlState } from "../../url-state.ts";
import { keyOf, useOutboxColumns } from "./outbox-columns.tsx";
import { NO_FILTERS, OutboxFilters } from "./outbox-filters.tsx";
import { Recent } from "./recent.tsx";
import { ResendDialog, type ResendWish } from "./resend.tsx";
import { ResendManyDialog } from "./resend-many.tsx";
import { texts } from "./texts.ts";

const PAGE_ROWS = 50;

/** The most selected postbacks that one call sends again. */
const SELECTED_MAX = 500;

/** The postbacks, newest first. */
export function Outbox() {
  const text = useTexts(texts);
  const app = useApp();
  const mayChange = useMay("operate");
  const [filters, change] = useUrlState(NO_FILTERS);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [wish, setWish] = useState<ResendWish | "many">();
  const postbacks = useInfiniteQuery({
    queryKey: ["postbacks", app.app_id, filters],
    queryFn: ({ pageParam, signal }) =>
      get<PostbackList>("postbacks", { app_id: app.app_id, ...filters, after: pageParam, limit: PAGE_ROWS }, signal),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next || undefined,
  });
  const rows = postbacks.data?.pages.flatMap((page) => page.postbacks) ?? [];
  const chosen = rows.filter((row) => selected.has(keyOf(row)));
  const toggle = (row: Postback) => {
    const next = new Set(selected);
    if (!next.delete(keyOf(row)) && next.size < SELECTED_MAX) next.add(keyOf(row));
    setSelected(next);
  };
  const columns = useOutboxColumns({ selected, toggle, onResend: (row) => setWish({ kind: "selected", rows: [row] }) });
  const isFiltered = Object.values(filters).some((value) => value !== "");
  return (
    <>
      <Recent onShow={(status) => change({ ...NO_FILTERS, status })} onResend={setWish} />
      <div className="row apart fields">
        <OutboxFilters filters={filters} onChange={change} />
        {mayChange && (
          <span className="row">
            <Button disabled={chosen.length === 0} onClick={() => setWish({ kind: "selected", rows: chosen })}>
              {chosen.length === 0 ? text.resend : text.resendSelected(chosen.length)}
            </Button>
            <Button onClick={() => setWish("many")}>{text.resendMany}</Button>
          </span>
        )}
      </div>
      {postbacks.error && <Failure error={postbacks.error} onRetry={() => postbacks.refetch()} />}
      {postbacks.isPending && <Progress />}
      {postbacks.data && (
        <DataTable
          label={text.table}
          columns={columns}
          rows={rows}
          keyOf={keyOf}
          empty={
            <Empty title={isFiltered ? text.noneFound : text.none}>
              <p>{isFiltered ? text.noneFoundHelp : text.noneHelp}</p>
            </Empty>
          }
        />
      )}
      {postbacks.hasNextPage && (
        <div className="row more">
          <Button disabled={postbacks.isFetchingNextPage} onClick={() => postbacks.fetchNextPage()}>
            {text.more}
          </Button>
        </div>
      )}
      {wish === "many" && <ResendManyDialog onAsk={setWish} onClose={() => setWish(undefined)} />}
      {wish && wish !== "many" && (
        <ResendDialog wish={wish} onDone={() => setSelected(new Set())} onClose={() => setWish(undefined)} />
      )}
    </>
  );
}
