import type { SqlRows } from "../../../../src/contract/analysis/asked.ts";
import { Freshness } from "../../analysis/freshness.tsx";
import { saveCsv } from "../../analysis/save-csv.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { texts } from "./texts.ts";

/** More rows make the browser slow; nobody reads them on a page. */
const SHOWN_MAX = 500;

export function Rows({ answer }: { answer: SqlRows }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const { app_id } = useApp();
  const { columns, rows, is_cut, received_until, took_ms } = answer;
  const shown = rows.slice(0, SHOWN_MAX);
  return (
    <section className="stack tight" aria-label={text.result}>
      <div className="row apart">
        <span>
          <b>{rows.length === 1 ? text.oneRow : text.rows(number(rows.length))}</b>{" "}
          {rows.length > shown.length && text.shownRows(number(shown.length))}{" "}
          <Freshness received_until={received_until} took_ms={took_ms} />
        </span>
        <Button disabled={rows.length === 0} onClick={() => saveCsv([columns, ...rows], `sql-${app_id}.csv`)}>
          {text.download}
        </Button>
      </div>
      {is_cut && <p className="notice warn">{text.cut(number(rows.length))}</p>}
      <DataTable
        label={text.result}
        columns={columns.map((title, at) => ({
          // Two columns may have one name.
          name: String(at),
          title,
          kind: isNumeric(shown, at) ? ("number" as const) : ("text" as const),
          cell: (row: readonly unknown[]) => <Value value={row[at]} />,
        }))}
        rows={shown}
        keyOf={(_, index) => index}
        empty={
          <Empty title={text.noRows}>
            <p>{text.noRowsHelp}</p>
          </Empty>
        }
      />
    </section>
  );
}

function isNumeric(rows: readonly (readonly unknown[])[], at: number): boolean {
  const values = rows.map((row) => row[at]).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(String(value)));
}

/** A value as the database writes it, so that it can be compared with other tools. */
function Value({ value }: { value: unknown }) {
  const text = useTexts(texts);
  if (value === null || value === undefined) return <span className="soft">{text.empty}</span>;
  return <span className="sql-value">{typeof value === "object" ? JSON.stringify(value) : String(value)}</span>;
}
