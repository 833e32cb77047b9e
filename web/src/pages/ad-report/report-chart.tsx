import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { ConsoleReport, ShownCatalogue } from "../../../../src/contract/admin/console-report.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { type CatalogueMetric, type MetricUnit, NAME_OF, useLabel } from "../../report/catalogue.ts";
import { eachDay } from "../../report/days.ts";
import { useDimensionValue } from "../../report/dimension-value.ts";
import { useValueTexts } from "../../report/value.ts";
import { listOf, listText } from "../../report/value-list.ts";
import { useTexts } from "../../texts.ts";
import { Chart } from "../../ui/chart.tsx";
import { Dropdown } from "../../ui/dropdown.tsx";
import { Check, SelectField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { consoleBody, type ReportState, type UrlState } from "./state.ts";
import { texts } from "./texts.ts";

const BARS_MAX = 20;
const METRICS_MAX = 4;
const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, "0"));
/** Dimensions of time, which are shown in their own order. */
const TIMES = ["date", "hour"];

type ReportChartProps = {
  url: UrlState;
  state: ReportState;
  catalogue: ShownCatalogue;
  onChange: (changes: Partial<UrlState>) => void;
};

/**
 * Some of the metrics over days or hours, or over the largest values of another dimension. It asks for its own report, because ratios
 * cannot be added up from the rows of the table.
 */
export function ReportChart({ url, state, catalogue, onChange }: ReportChartProps) {
  const text = useTexts(texts);
  const label = useLabel();
  const metrics = shownMetrics(url, state, catalogue);
  const over = ["date", ...state.dims.filter((name) => name !== "date")];
  const by = over.includes(url.chart_by) ? url.chart_by : "date";
  const dimensions = over.flatMap((name) => catalogue.dimensions.find((one) => one.name === name) ?? []);
  return (
    <section className="card stack tight">
      <div className="row fields">
        <SelectField
          label={text.chart}
          value={url.chart}
          choices={Object.entries(text.charts).map(([value, title]) => ({ value, label: title }))}
          onChange={(chart) => onChange({ chart })}
        />
        {url.chart !== "none" && (
          <>
            <SelectField
              label={text.chartBy}
              value={by}
              choices={dimensions.map((one) => ({ value: one.name, label: label(one) }))}
              onChange={(chart_by) => onChange({ chart_by })}
            />
            <ChosenMetrics metrics={metrics} state={state} catalogue={catalogue} onChange={onChange} />
          </>
        )}
      </div>
      {url.chart !== "none" && metrics.length > 0 && <Drawn type={url.chart} by={by} metrics={metrics} state={state} />}
    </section>
  );
}

/** The metrics in the address that are columns of the report, or the first column if there are none. */
function shownMetrics(
  { chart_metrics }: UrlState,
  { metrics }: ReportState,
  catalogue: ShownCatalogue,
): CatalogueMetric[] {
  const chosen = listOf(chart_metrics).filter((name) => metrics.includes(name));
  const names = chosen.length > 0 ? chosen : metrics.slice(0, 1);
  return names.slice(0, METRICS_MAX).flatMap((name) => catalogue.metrics.find((one) => one.name === name) ?? []);
}

type ChosenProps = Omit<ReportChartProps, "url"> & { metrics: readonly CatalogueMetric[] };

function ChosenMetrics({ metrics, state, catalogue, onChange }: ChosenProps) {
  const text = useTexts(texts);
  const label = useLabel();
  const names = metrics.map(({ name }) => name);
  const units = new Set(metrics.map(({ unit }) => unit));
  const fits = (unit: MetricUnit) => names.length < METRICS_MAX && (units.has(unit) || units.size < 2);
  return (
    <Dropdown title={`${text.chartMetrics}: ${metrics.map(label).join(", ")}`}>
      {() => (
        <>
          <div className="filter-values">
            {state.metrics.flatMap((name) => {
              const metric = catalogue.metrics.find((one) => one.name === name);
              if (!metric) return [];
              const isOn = names.includes(name);
              const next = isOn ? names.filter((one) => one !== name) : [...names, name];
              return (
                <Check
                  key={name}
                  label={label(metric)}
                  checked={isOn}
                  disabled={isOn ? names.length === 1 : !fits(metric.unit)}
                  onChange={() => onChange({ chart_metrics: listText(next) })}
                />
              );
            })}
          </div>
          <span className="soft small">{text.chartLimit}</span>
        </>
      )}
    </Dropdown>
  );
}

type DrawnProps = { type: string; by: string; metrics: readonly CatalogueMetric[]; state: ReportState };

function Drawn({ type, by, metrics, state }: DrawnProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const query = useChartReport({ by, metrics, state });
  return (
    <QueryView query={query}>
      {(report) => (
        <>
          <Plot type={type} by={by} metrics={metrics} state={state} report={report} />
          {!TIMES.includes(by) && report.page_info.total_number > BARS_MAX && (
            <span className="soft small">{text.firstBars(BARS_MAX, number(report.page_info.total_number))}</span>
          )}
        </>
      )}
    </QueryView>
  );
}

function useChartReport({ by, metrics, state }: Omit<DrawnProps, "type">) {
  const { app_id } = useApp();
  const names = metrics.map(({ name }) => name);
  const { order_by_list: _sorted, ...body } = consoleBody(app_id, { ...state, dims: [by], metrics: names, names: [] });
  const order = TIMES.includes(by)
    ? {}
    : { order_by_list: [{ field: names[0]!, sort: 1 as const }], page_size: BARS_MAX };
  return useQuery({
    queryKey: ["report/chart", body, order],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => post<ConsoleReport>("report/ad", { ...body, ...order }, signal),
  });
}

function Plot({ type, by, metrics, state, report }: DrawnProps & { report: ConsoleReport }) {
  const text = useTexts(texts);
  const label = useLabel();
  const valueText = useDimensionValue();
  const shown = useValueTexts(state.decimals);
  const option = useMemo(() => {
    const byValue = new Map(report.items.map((item) => [String(item[by]), item]));
    const values = by === "date" ? eachDay(state.days) : by === "hour" ? HOURS : [...byValue.keys()];
    const units = [...new Set(metrics.map(({ unit }) => unit))];
    const nameOf = (value: string) => {
      const item = byValue.get(value);
      const called = by === "turbo_promoted_object_id" ? report.campaign_names[value] : item?.[NAME_OF[by] ?? ""];
      return called ? String(called) : valueText(by, value);
    };
    return {
      legend: {},
      xAxis: { type: "category", data: values.map(nameOf), boundaryGap: type === "bar" },
      yAxis: units.map((unit, at) => ({
        type: "value",
        position: at === 0 ? "left" : "right",
        splitLine: { show: at === 0 },
        axisLabel: { formatter: (value: number) => shown.short(unit, value) },
      })),
      series: metrics.map((metric) => ({
        type: type === "bar" ? "bar" : "line",
        name: label(metric),
        yAxisIndex: units.indexOf(metric.unit),
        barMaxWidth: 32,
        symbol: "circle",
        symbolSize: 6,
        showSymbol: values.length <= 31,
        data: values.map((value) => Number(byValue.get(value)?.[metric.name] ?? 0)),
        tooltip: { valueFormatter: (value: number) => shown.value(metric.unit, value) },
      })),
    };
  }, [report, by, metrics.map(({ name }) => name).join(), state, type, shown, label, valueText]);
  return <Chart label={`${text.chart}: ${metrics.map(label).join(", ")}`} option={option} height={280} />;
}
