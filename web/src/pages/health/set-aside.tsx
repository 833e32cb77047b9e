import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReplayAnswer, SetAsideAnswer } from "../../../../src/contract/admin/health.ts";
import { get, post } from "../../api.ts";
import { useApps } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { TellDialog } from "../../ui/dialog.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { say } from "../../ui/toast.tsx";
import { texts } from "./texts.ts";

type Entry = SetAsideAnswer["entries"][number];

const REFRESH_MS = 5_000;

/** Journal entries that could not be applied, with a button to try them again. */
export function SetAside({ total }: { total: number }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const mayChange = useMay("operate");
  const [before, setBefore] = useState<number>();
  const [shown, setShown] = useState<Entry>();
  const query = useQuery({
    // The total is part of the key, so that a new entry shows at once.
    queryKey: ["set-aside", before ?? 0, total],
    queryFn: ({ signal }) => get<SetAsideAnswer>("set-aside", { before }, signal),
    placeholderData: (previous) => previous,
    refetchInterval: REFRESH_MS,
  });
  const replaying = useReplay((count) => text.replayed(number(count)));
  const replay = mayChange ? (ids?: number[]) => replaying.mutate(ids) : undefined;
  return (
    <section className="stack tight">
      <div className="row apart">
        <div>
          <h2>{text.aside}</h2>
          <p className="soft small">{text.asideAbout}</p>
        </div>
        {replay && total > 0 && (
          <Button look="main" disabled={replaying.isPending} onClick={() => replay()}>
            {text.replayAll}
          </Button>
        )}
      </div>
      {replaying.isError && <Failure error={replaying.error} />}
      <QueryView query={query}>
        {({ entries, has_more }) => (
          <>
            <Entries entries={entries} onShow={setShown} onReplay={replay && ((id) => replay([id]))} />
            {(before !== undefined || has_more) && (
              <div className="row end">
                <Button size="small" disabled={before === undefined} onClick={() => setBefore(undefined)}>
                  {text.newest}
                </Button>
                <Button size="small" disabled={!has_more} onClick={() => setBefore(entries.at(-1)?.id)}>
                  {text.older}
                </Button>
              </div>
            )}
          </>
        )}
      </QueryView>
      {shown && <EntryDialog entry={shown} onClose={() => setShown(undefined)} />}
    </section>
  );
}

function useReplay(sentenceOf: (count: number) => string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (ids: number[] | undefined) => post<ReplayAnswer>("set-aside/replay", ids ? { ids } : {}),
    onSuccess: async ({ requested }) => {
      say(sentenceOf(requested));
      await client.invalidateQueries({ queryKey: ["set-aside"] });
    },
  });
}

type EntriesProps = {
  entries: readonly Entry[];
  onShow: (entry: Entry) => void;
  onReplay: ((id: number) => void) | undefined;
};

function Entries({ entries, onShow, onReplay }: EntriesProps) {
  const text = useTexts(texts);
  const { bytes, instant } = useFormat();
  const apps = useApps().data?.apps ?? [];
  const appOf = ({ app_id }: Entry) => apps.find((app) => app.app_id === app_id);
  const columns: Column<Entry>[] = [
    {
      name: "received",
      title: text.received,
      cell: (entry) => (entry.received_at_ms === null ? "–" : instant(entry.received_at_ms, appOf(entry)?.time_zone)),
    },
    { name: "app", title: text.app, cell: (entry) => appOf(entry)?.name ?? entry.app_id ?? "–" },
    { name: "kind", title: text.kind, cell: ({ kind }) => kind || "–" },
    { name: "reason", title: text.reason, cell: ({ reason }) => <span className="fault">{reason}</span> },
    { name: "bytes", title: text.bytes, kind: "number", cell: (entry) => bytes(entry.bytes) },
    {
      name: "act",
      title: <span className="visually-hidden">{text.replay}</span>,
      cell: (entry) => (
        <span className="row end acts">
          <Button size="small" onClick={() => onShow(entry)}>
            {text.show}
          </Button>
          {entry.state === "requested" ? (
            <Badge tone="accent">{text.requested}</Badge>
          ) : (
            onReplay && (
              <Button size="small" onClick={() => onReplay(entry.id)}>
                {text.replay}
              </Button>
            )
          )}
        </span>
      ),
    },
  ];
  const empty = (
    <Empty title={text.noAside}>
      <p>{text.noAsideHelp}</p>
    </Empty>
  );
  return <DataTable label={text.aside} columns={columns} rows={entries} keyOf={({ id }) => id} empty={empty} />;
}

function EntryDialog({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const text = useTexts(texts);
  const { bytes } = useFormat();
  return (
    <TellDialog title={text.entry(entry.id)} width="wide" onClose={onClose}>
      <p className="fault">{entry.reason}</p>
      <CopyBlock value={entry.body} wrap />
      {entry.is_cut && <p className="soft small">{text.cutNote(bytes(entry.bytes))}</p>}
    </TellDialog>
  );
}
