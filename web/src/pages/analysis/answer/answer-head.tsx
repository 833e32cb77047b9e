import type { ReactNode } from "react";
import type { Origin } from "../../../../../src/contract/analysis/asked.ts";
import type { CsvRow } from "../../../analysis/csv-text.ts";
import { Freshness } from "../../../analysis/freshness.tsx";
import { saveCsv } from "../../../analysis/save-csv.ts";
import { useApp } from "../../../chosen-app.tsx";
import { useTexts } from "../../../texts.ts";
import { Button } from "../../../ui/button.tsx";
import { texts } from "../texts.ts";

type AnswerHeadProps = {
  asked: Pick<Origin, "received_until" | "took_ms"> & { question: { date_list: readonly string[] } };
  /** The answer as CSV. */
  rows: () => readonly CsvRow[];
  /** What the file is called. */
  file: string;
  children?: ReactNode;
};

/** How fresh an answer is, and its file. */
export function AnswerHead({ asked, rows, file, children }: AnswerHeadProps) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const download = () => saveCsv(rows(), [file, app_id, ...asked.question.date_list].join("-").concat(".csv"));
  return (
    <div className="row apart">
      <div className="row fields">{children}</div>
      <div className="row">
        <Freshness received_until={asked.received_until} took_ms={asked.took_ms} />
        <Button onClick={download}>{text.download}</Button>
      </div>
    </div>
  );
}
