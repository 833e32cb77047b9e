import type { CostPreview, FilePreview, PreviewedRow } from "../../../../src/contract/admin/cost.ts";
import type { RefundPreview } from "../../../../src/contract/admin/refund.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Tile } from "../../ui/tile.tsx";
import { texts } from "./upload-texts.ts";

export type Preview = FilePreview | CostPreview | RefundPreview;

/** The effect of a file before it is imported: totals, problems and the first rows. */
export function PreviewView({ preview }: { preview: Preview }) {
  const text = useTexts(texts);
  return (
    <section className="stack" aria-live="polite">
      <Counts preview={preview} />
      {preview.problem_count > 0 && <Problems preview={preview} />}
      {"first_unknown" in preview && preview.unknown_orders > 0 && (
        <p className="notice">{text.unknownHelp(unknownText(preview))}</p>
      )}
      {"sums" in preview && preview.sums.length > 0 && <Sums preview={preview} />}
      {preview.first_replacing.length > 0 && (
        <Rows title={text.replacing} columns={preview.columns} rows={preview.first_replacing} />
      )}
      {preview.first_rows.length > 0 && (
        <Rows title={text.firstRows} columns={preview.columns} rows={preview.first_rows} />
      )}
    </section>
  );
}

function Counts({ preview }: { preview: Preview }) {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  const { currency } = useApp();
  const { rows } = preview;
  return (
    <div className="tiles">
      <Tile name={text.new} value={number(rows.new)} />
      <Tile name={text.replaces} value={number(rows.replaces)} />
      <Tile name={text.same} value={number(rows.same)} />
      {"unknown_orders" in preview && <Tile name={text.unknownOrders} value={number(preview.unknown_orders)} />}
      {"total" in preview && (
        <Tile name={text.cost(currency)} value={cents(preview.total.cost * 100)}>
          <span className="soft small">{text.costBefore(cents(preview.total.cost_before * 100))}</span>
        </Tile>
      )}
    </div>
  );
}

const ORDERS_NAMED = 10;

function unknownText({ first_unknown }: RefundPreview): string {
  const named = first_unknown.slice(0, ORDERS_NAMED).join(", ");
  return first_unknown.length > ORDERS_NAMED ? `${named} …` : named;
}

function Problems({ preview: { problems, problem_count } }: { preview: Preview }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  return (
    <section className="stack tight">
      <h2 className="problem-count">{text.problems(number(problem_count))}</h2>
      <p>
        {text.problemsHelp} {problem_count > problems.length && text.problemsMore(number(problems.length))}
      </p>
      <DataTable
        label={text.problemsTable}
        rows={problems}
        keyOf={(_, at) => at}
        columns={[
          {
            name: "line",
            kind: "number",
            title: text.line,
            cell: ({ line }) => (line === 0 ? text.wholeFile : number(line)),
          },
          { name: "problem", title: text.problem, cell: ({ problem }) => problem },
        ]}
      />
    </section>
  );
}

function Sums({ preview: { sums, sum_count } }: { preview: CostPreview }) {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  const platformName = usePlatformName();
  const { sumColumns: titles } = text;
  type Sum = CostPreview["sums"][number];
  const counted = (name: "rows" | "impressions" | "clicks"): Column<Sum> => ({
    name,
    kind: "number",
    title: titles[name],
    cell: (sum) => number(sum[name]),
  });
  return (
    <section className="stack tight">
      <h2>{text.sums}</h2>
      {sum_count > sums.length && <p className="soft">{text.sumsMore(number(sums.length), number(sum_count))}</p>}
      <DataTable
        label={text.sums}
        rows={sums}
        keyOf={({ date, ad_platform }) => `${date} ${ad_platform}`}
        columns={[
          { name: "date", title: titles.date, cell: ({ date }) => date },
          { name: "platform", title: titles.platform, cell: ({ ad_platform }) => platformName(ad_platform) },
          counted("rows"),
          counted("impressions"),
          counted("clicks"),
          { name: "cost", kind: "number", title: titles.cost, cell: ({ cost }) => cents(cost * 100) },
          {
            name: "before",
            kind: "number",
            title: titles.before,
            cell: ({ cost_before }) => cents(cost_before * 100),
          },
        ]}
      />
    </section>
  );
}

type RowsProps = { title: string; columns: readonly string[]; rows: readonly PreviewedRow[] };

/** A table without the columns that are empty in every row. */
function Rows({ title, columns, rows }: RowsProps) {
  const text = useTexts(texts);
  const shown = columns.filter((name) => rows.some(({ values }) => values[name] !== "" && values[name] !== undefined));
  const isNumber = (name: string) => rows.every(({ values }) => typeof values[name] === "number");
  return (
    <section className="stack tight">
      <h2>{title}</h2>
      <DataTable
        label={title}
        rows={rows}
        keyOf={({ line }) => line}
        columns={[
          { name: "line", kind: "number", title: text.line, cell: ({ line }) => line },
          {
            name: "state",
            title: text.state,
            cell: ({ state }) => <Badge tone={state === "replaces" ? "warn" : "plain"}>{text.states[state]}</Badge>,
          },
          ...shown.map(
            (name): Column<PreviewedRow> => ({
              name: `column ${name}`,
              title: name,
              kind: isNumber(name) ? "number" : "text",
              cell: (row) => <Value row={row} name={name} />,
            }),
          ),
        ]}
      />
    </section>
  );
}

/** A stored value that the file would change is struck out before the new one. */
function Value({ row: { values, before }, name }: { row: PreviewedRow; name: string }) {
  const { number } = useFormat();
  const told = (value: string | number | undefined) => (typeof value === "number" ? number(value) : (value ?? ""));
  const isChanged = before !== null && before[name] !== values[name];
  return (
    <>
      {isChanged && <del className="soft">{told(before[name])}</del>} {told(values[name])}
    </>
  );
}
