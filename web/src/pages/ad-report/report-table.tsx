import { useState } from "react";
import type { ConsoleReport, ShownCatalogue } from "../../../../src/contract/admin/console-report.ts";
import { type CatalogueMetric, NAME_OF, useLabel } from "../../report/catalogue.ts";
import { useDimensionValue } from "../../report/dimension-value.ts";
import { useValueTexts } from "../../report/value.ts";
import { useLanguage, useTexts } from "../../texts.ts";
import { type Column, DataTable, type Sort } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { type Cell, CellDialog } from "./cell-dialog.tsx";
import type { ReportState } from "./state.ts";
import { texts } from "./texts.ts";

type Item = ConsoleReport["items"][number];

type ReportTableProps = {
  report: ConsoleReport;
  state: ReportState;
  catalogue: ShownCatalogue;
  onSort: (sort: Sort) => void;
};

/** Dimensions, then metrics. Clicking a number shows what is behind it. */
export function ReportTable({ report, state, catalogue, onSort }: ReportTableProps) {
  const text = useTexts(texts);
  const [opened, setOpened] = useState<Cell>();
  const dimensions = useDimensionColumns(report, state, catalogue);
  const metrics = useMetricColumns(report, state, catalogue, setOpened);
  return (
    <>
      <DataTable
        label={text.table}
        columns={[...dimensions, ...metrics]}
        rows={report.items}
        keyOf={(item) => state.dims.map((name) => item[name]).join("\u0000")}
        sort={state.sort}
        onSort={onSort}
        empty={
          <Empty title={text.empty}>
            <p>{text.emptyHelp}</p>
          </Empty>
        }
      />
      {opened && <CellDialog cell={opened} state={state} catalogue={catalogue} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function useDimensionColumns(
  { campaign_names }: ConsoleReport,
  { dims, names }: ReportState,
  { dimensions, associated }: ShownCatalogue,
): Column<Item>[] {
  const text = useTexts(texts);
  const label = useLabel();
  const valueText = useDimensionValue();
  const called = (item: Item, name: string) =>
    name === "turbo_promoted_object_id" ? campaign_names[String(item[name])] : item[NAME_OF[name] ?? ""];
  return dims.flatMap((name, at): Column<Item>[] => [
    {
      name,
      title: label(dimensions.find((one) => one.name === name)!),
      sortable: true,
      cell: (item) => <Named value={valueText(name, String(item[name]))} name={called(item, name)} />,
      total: at === 0 ? text.total : "",
    },
    ...associated
      .filter((one) => one.dimension === name && names.includes(one.name))
      .map((one) => ({
        name: one.name,
        title: label(one),
        sortable: true,
        cell: (item: Item) => item[one.name],
        total: "",
      })),
  ]);
}

/** A name in front of its id. */
function Named({ value, name }: { value: string; name: string | number | undefined }) {
  if (!name) return <span className="unbroken">{value}</span>;
  return (
    <span className="definition">
      <span>{name}</span>
      <span className="soft small mono">{value}</span>
    </span>
  );
}

function useMetricColumns(
  { total }: ConsoleReport,
  { dims, metrics, decimals }: ReportState,
  catalogue: ShownCatalogue,
  onOpen: (cell: Cell) => void,
): Column<Item>[] {
  const label = useLabel();
  const isChinese = useLanguage() === "zh";
  const { value } = useValueTexts(decimals);
  const rowOf = (item: Item) => Object.fromEntries(dims.map((name) => [name, String(item[name])]));
  return metrics.flatMap((name): Column<Item>[] => {
    const metric = catalogue.metrics.find((one) => one.name === name);
    if (!metric) return [];
    const open = (item: Item, row: Record<string, string>) => (
      <NumberButton
        metric={metric}
        shown={value(metric.unit, Number(item[name]))}
        onClick={() => onOpen({ metric, row })}
      />
    );
    return [
      {
        name,
        kind: "number",
        sortable: true,
        title: <span title={isChinese ? metric.ctip : metric.tip}>{label(metric)}</span>,
        cell: (item) => open(item, rowOf(item)),
        ...(total[0] && { total: open(total[0], {}) }),
      },
    ];
  });
}

function NumberButton({ metric, shown, onClick }: { metric: CatalogueMetric; shown: string; onClick: () => void }) {
  const text = useTexts(texts);
  const label = useLabel();
  return (
    <button type="button" className="number-button" aria-label={text.open(label(metric), shown)} onClick={onClick}>
      {shown}
    </button>
  );
}
