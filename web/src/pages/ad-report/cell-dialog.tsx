import { useQuery } from "@tanstack/react-query";
import type { ExplainedCell, ShownCatalogue } from "../../../../src/contract/admin/console-report.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { type CatalogueMetric, useLabel } from "../../report/catalogue.ts";
import { useDimensionValue } from "../../report/dimension-value.ts";
import { useValueTexts, type ValueTexts } from "../../report/value.ts";
import { useLanguage, useTexts } from "../../texts.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { TellDialog } from "../../ui/dialog.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { BehindTabs } from "./behind-tabs.tsx";
import { publicBody, type ReportState } from "./state.ts";
import { texts } from "./texts.ts";

/** A number of the report: its metric and the dimension values of its row. The total has an empty row. */
export type Cell = { metric: CatalogueMetric; row: Record<string, string> };

const ROWS_MAX = 200;

type CellDialogProps = { cell: Cell; state: ReportState; catalogue: ShownCatalogue; onClose: () => void };

/** Lists the users, orders and costs behind a number, and shows that they add up to it. */
export function CellDialog({ cell, state, catalogue, onClose }: CellDialogProps) {
  const label = useLabel();
  const isChinese = useLanguage() === "zh";
  const { app_id } = useApp();
  const { metric, row } = cell;
  const { metrics_list: _m, dims_list: _d, dims_metrics_list: _n, ...report } = publicBody(app_id, state);
  const query = useQuery({
    queryKey: ["report/explain", report, metric.name, row],
    staleTime: 0,
    queryFn: ({ signal }) =>
      post<ExplainedCell>(
        "report/explain",
        { ...report, metric: metric.name, row, limit: ROWS_MAX, rate_decimal_point: 4 },
        signal,
      ),
  });
  return (
    <TellDialog title={label(metric)} width="wide" onClose={onClose}>
      <RowText row={row} state={state} catalogue={catalogue} />
      <p className="soft small">{isChinese ? metric.ctip : metric.tip}</p>
      <QueryView query={query}>
        {(explained) => (
          <>
            <Figure explained={explained} metric={metric} state={state} catalogue={catalogue} />
            <Proof explained={explained} catalogue={catalogue} />
            <BehindTabs explained={explained} catalogue={catalogue} />
          </>
        )}
      </QueryView>
    </TellDialog>
  );
}

function RowText({
  row,
  state: { days },
  catalogue,
}: Omit<CellDialogProps, "cell" | "onClose"> & { row: Cell["row"] }) {
  const text = useTexts(texts);
  const label = useLabel();
  const valueText = useDimensionValue();
  const parts = Object.entries(row).map(([name, value]) => {
    const dimension = catalogue.dimensions.find((one) => one.name === name)!;
    return `${label(dimension)}: ${valueText(name, value)}`;
  });
  return <p>{[...(parts.length > 0 ? parts : [text.ofTotal]), `${days.from} – ${days.to}`].join(" · ")}</p>;
}

type FigureProps = { explained: ExplainedCell; metric: CatalogueMetric; state: ReportState; catalogue: ShownCatalogue };

/** The number, and how it is computed from sums. */
function Figure({ explained, metric, state, catalogue }: FigureProps) {
  const text = useTexts(texts);
  const shown = useValueTexts(state.decimals);
  const { formula, pay_share } = explained;
  const share = formula.has_pay_share && pay_share !== 1 ? text.payShare(shown.value("rate", pay_share)) : "";
  const of = namesOf(explained, formula.of);
  const sums = (names: readonly string[]) =>
    names.map((name, at) => (
      <span key={name}>
        {at > 0 && (name.startsWith("ruled_") ? " − " : " + ")}
        <Sum
          explained={explained}
          catalogue={catalogue}
          name={name}
          prefix={/^(?:pay|ruled)_/.test(name) ? share : ""}
          shown={shown}
        />
      </span>
    ));
  return (
    <div className="figure">
      <span className="figure-value">{shown.value(metric.unit, explained.value)}</span>
      <span className="soft">
        {text.result} {of.length > 1 && formula.by.length > 0 ? "(" : ""}
        {sums(of)}
        {of.length > 1 && formula.by.length > 0 ? ")" : ""}
        {formula.by.length > 0 && <> ÷ {sums(formula.by)}</>}
        {formula.times > 1 && ` × ${shown.value("count", formula.times)}`}
      </span>
    </div>
  );
}

/** Without what share rules say when none applies to a payment of the cell. */
function namesOf({ sums }: ExplainedCell, names: readonly string[]): string[] {
  const isOfRules = (name: string) => /^(?:ruled|share)_/.test(name);
  const hasRuled = names.some((name) => isOfRules(name) && sums[name]);
  return names.filter((name) => hasRuled || !isOfRules(name));
}

type SumProps = {
  explained: ExplainedCell;
  catalogue: ShownCatalogue;
  name: string;
  prefix: string;
  shown: ValueTexts;
};

function Sum({ explained, catalogue, name, prefix, shown }: SumProps) {
  const label = useLabel();
  const measure = catalogue.measures.find((one) => one.name === name)!;
  return (
    <>
      {prefix && `${prefix} `}
      {label(measure)} <b>{shown.parts(measure.unit, explained.sums[name] ?? 0)}</b>
    </>
  );
}

type Line = { name: string; inReport: number; added: number; from: "users" | "costs" | "orders"; count: number };

/** Each sum of the report beside what its users, orders and costs add up to. */
function Proof({ explained, catalogue }: { explained: ExplainedCell; catalogue: ShownCatalogue }) {
  const text = useTexts(texts);
  const label = useLabel();
  const { parts, value } = useValueTexts();
  const lines = linesOf(explained);
  const isEqual = lines.every(({ inReport, added }) => inReport === added);
  const measureOf = (name: string) => catalogue.measures.find((one) => one.name === name)!;
  const amount = (name: string, sum: number) => parts(measureOf(name).unit, sum);
  return (
    <>
      <p className={`notice ${isEqual ? "" : "warn"}`} role="status">
        {isEqual ? text.addsUp : text.doesNotAddUp}
      </p>
      <DataTable
        label={text.behind}
        rows={lines}
        keyOf={({ name, from }) => `${name} ${from}`}
        columns={[
          { name: "name", title: "", cell: ({ name }: Line) => label(measureOf(name)) },
          {
            name: "report",
            title: text.inReport,
            kind: "number",
            cell: ({ name, inReport }: Line) => amount(name, inReport),
          },
          {
            name: "added",
            title: text.addedUp,
            kind: "number",
            cell: ({ name, added, inReport }: Line) => `${amount(name, added)} ${added === inReport ? "✓" : "≠"}`,
          },
          {
            name: "from",
            title: text.from,
            cell: ({ from, count }: Line) => text.counted[from](value("count", count)),
          },
        ]}
      />
    </>
  );
}

function linesOf(explained: ExplainedCell): Line[] {
  const { sums, added, numbers, formula } = explained;
  const names = [...new Set([...namesOf(explained, formula.of), ...formula.by])];
  return names.flatMap((name): Line[] => {
    const from = name in added.costs ? "costs" : "users";
    const inReport = sums[name] ?? 0;
    const line: Line = { name, inReport, added: added[from][name] ?? 0, from, count: numbers[from] };
    const isPaid = /^pay_(?:cents$|[ds]\d)/.test(name);
    return isPaid && added.orders.cents !== undefined
      ? [line, { ...line, added: added.orders.cents, from: "orders", count: numbers.orders }]
      : [line];
  });
}
