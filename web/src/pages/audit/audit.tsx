import { useInfiniteQuery } from "@tanstack/react-query";
import type { AuditEntry, AuditPage as Entries } from "../../../../src/contract/setting/session.ts";
import { get } from "../../api.ts";
import { useAppName, useApps } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { SelectField } from "../../ui/field.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useUrlState } from "../../url-state.ts";
import "./audit.css";
import { texts } from "./texts.ts";

export function AuditPage() {
  const text = useTexts(texts);
  const [{ of }, change] = useUrlState({ of: "" });
  const { data: apps } = useApps();
  const log = useInfiniteQuery({
    queryKey: ["audit", of],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam, signal }) => get<Entries>("audit", { app_id: of, before: pageParam }, signal),
    getNextPageParam: ({ next_before }) => next_before ?? undefined,
    staleTime: 0,
  });
  const choices = [
    { value: "", label: text.anyApp },
    ...(apps?.apps ?? []).map(({ app_id, name }) => ({ value: String(app_id), label: `${name} · ${app_id}` })),
  ];
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <SelectField label={text.app} value={of} choices={choices} onChange={(value) => change({ of: value })} />
      </PageHead>
      {log.error && <Failure error={log.error} onRetry={() => log.refetch()} />}
      {log.isPending && <Progress />}
      {log.data && <EntryTable entries={log.data.pages.flatMap(({ entries }) => entries)} />}
      {log.hasNextPage && (
        <div>
          <Button disabled={log.isFetchingNextPage} onClick={() => log.fetchNextPage()}>
            {text.more}
          </Button>
        </div>
      )}
      {log.data && log.data.pages.length > 1 && !log.hasNextPage && <p className="soft small">{text.end}</p>}
    </>
  );
}

function EntryTable({ entries }: { entries: readonly AuditEntry[] }) {
  const text = useTexts(texts);
  const format = useFormat();
  const nameOf = useAppName();
  const columns: Column<AuditEntry>[] = [
    {
      name: "at",
      title: text.columns.at,
      cell: ({ at_ms }) => <span className="moment">{format.instant(at_ms)}</span>,
    },
    { name: "actor", title: text.columns.actor, cell: ({ actor }) => actor },
    { name: "action", title: text.columns.action, cell: ({ action }) => <code>{action}</code> },
    { name: "app", title: text.columns.app, cell: ({ app_id }) => (app_id === null ? text.noApp : nameOf(app_id)) },
    { name: "details", title: text.columns.details, cell: ({ details }) => <Details details={details} /> },
    { name: "address", title: text.columns.address, cell: ({ address }) => <code>{address}</code> },
  ];
  const empty = (
    <Empty title={text.none}>
      <p>{text.noneHelp}</p>
    </Empty>
  );
  return <DataTable label={text.title} columns={columns} rows={entries} keyOf={({ id }) => id} empty={empty} />;
}

const SHOWN_LENGTH = 160;

/** Folds a long text until it is clicked. */
function Value({ text }: { text: string }) {
  if (text.length <= SHOWN_LENGTH) return text;
  return (
    <details>
      <summary>{text.slice(0, SHOWN_LENGTH)}…</summary>
      {text.slice(SHOWN_LENGTH)}
    </details>
  );
}

/** The details of an entry, without the app, which has its own column. */
function Details({ details }: { details: AuditEntry["details"] }) {
  const shown = Object.entries(details).filter(([name]) => name !== "app_id");
  return (
    <ul className="details">
      {shown.map(([name, value]) => (
        <li key={name}>
          <span className="soft">{name}</span>{" "}
          <Value text={typeof value === "string" ? value : JSON.stringify(value)} />
        </li>
      ))}
    </ul>
  );
}
