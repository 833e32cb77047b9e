import { useEffect, useState } from "react";
import { dataOf, postForStream } from "../../api.ts";
import { dayOf, useFormat } from "../../format.ts";
import { saveFile } from "../../save-file.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { CsvRows } from "./csv-rows.ts";
import { texts } from "./texts.ts";

/** The interval at which the dialog updates its progress. */
const TELL_MS = 100;

type ExportDialogProps = {
  about: string;
  /** What is exported, as CSV, and the name of its file. */
  wanted: { path: string; body: object; file: string };
  /** At most so many. */
  rows: number;
  onClose: () => void;
};

type State = { kind: "running" } | { kind: "done" } | { kind: "failed"; error: unknown };

/** Exports as long as it is open: closing it stops the export. */
export function ExportDialog({ about, wanted, rows, onClose }: ExportDialogProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const [count, setCount] = useState(0);
  const [state, setState] = useState<State>({ kind: "running" });
  // Frozen when the dialog opens: the page behind may render again with new filter objects.
  const [frozen] = useState(wanted);
  useEffect(() => {
    const stopping = new AbortController();
    receive(frozen, stopping.signal, setCount).then(
      (file) => {
        saveFile(file, `${frozen.file}-${dayOf(Date.now(), "UTC")}.csv`);
        setState({ kind: "done" });
      },
      (error: unknown) => {
        if (!stopping.signal.aborted) setState({ kind: "failed", error });
      },
    );
    return () => stopping.abort();
  }, [frozen]);
  return (
    <Dialog title={text.csvTitle} onClose={onClose}>
      <p className="soft">{about}</p>
      {state.kind === "failed" ? (
        <>
          <p>{text.csvBroken}</p>
          <Failure error={state.error} />
        </>
      ) : (
        <div className="stack tight" role="status">
          <progress
            className="export-progress"
            aria-label={text.csvTitle}
            max={1}
            value={state.kind === "done" ? 1 : Math.min(1, count / Math.max(1, rows))}
          />
          <span>
            {state.kind === "done"
              ? `${text.csvReady(number(count))} ${text.csvDone}`
              : text.csvRows(number(count), number(rows))}
          </span>
        </div>
      )}
      <div className="row end">
        <Button onClick={onClose}>{state.kind === "running" ? text.csvStop : text.close}</Button>
      </div>
    </Dialog>
  );
}

/** Reads the stream to its end. Throws if the stream breaks off. */
async function receive(
  { path, body }: Pick<ExportDialogProps["wanted"], "path" | "body">,
  signal: AbortSignal,
  tell: (rows: number) => void,
): Promise<Blob> {
  const response = await postForStream(path, body, signal);
  if (!response.headers.get("content-type")?.startsWith("text/csv")) await dataOf(response);
  const reader = response.body!.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const rows = new CsvRows();
  let toldAt = 0;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    chunks.push(chunk.value);
    rows.add(chunk.value);
    if (performance.now() - toldAt > TELL_MS) {
      toldAt = performance.now();
      tell(rows.count);
    }
  }
  tell(rows.count);
  return new Blob(chunks, { type: "text/csv" });
}
