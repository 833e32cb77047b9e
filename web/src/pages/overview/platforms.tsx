import { useMemo } from "react";
import { Link } from "wouter";
import { useApp } from "../../chosen-app.tsx";
import { filterParameters } from "../../report/filter-state.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useValueTexts } from "../../report/value.ts";
import { useTexts } from "../../texts.ts";
import { Chart } from "../../ui/chart.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { type Asked, numberOf, type OverviewAnswers } from "./questions.ts";
import { texts } from "./texts.ts";

type Item = Record<string, string | number>;

export function Platforms({ answers, asked }: { answers: OverviewAnswers; asked: Asked }) {
  const text = useTexts(texts);
  const platformName = usePlatformName();
  const shown = useValueTexts();
  const { items, total } = answers.report("platforms")!;
  const rows = useMemo(() => [...items].sort(byCost), [items]);
  const option = useMemo(() => {
    const bars = (name: string, metric: string) => ({
      type: "bar",
      name,
      barMaxWidth: 16,
      data: rows.map((row) => numberOf(row, metric)),
    });
    return {
      legend: {},
      tooltip: { valueFormatter: (value: number) => shown.value("money", value) },
      // Horizontal bars leave room for the names on a phone too.
      xAxis: { type: "value", axisLabel: { formatter: (value: number) => shown.short("money", value) } },
      yAxis: {
        type: "category",
        inverse: true,
        axisLabel: { interval: 0 },
        data: rows.map((row) => platformName(String(row.ad_platform))),
      },
      series: [bars(text.spend, "AdCost"), bars(text.revenue, "AppRevenue")],
    };
  }, [rows, shown, text, platformName]);
  const number = (name: string, title: string, unit: "money" | "rate" | "count"): Column<Item> => ({
    name,
    title,
    kind: "number",
    cell: (row) => shown.value(unit, numberOf(row, name)),
    total: shown.value(unit, numberOf(total[0], name)),
  });
  return (
    <section className="card stack tight titled">
      <div className="row apart">
        <h2>{text.platforms}</h2>
        <ReportLink asked={asked} />
      </div>
      <div className="grid platforms">
        <Chart label={text.platforms} option={option} height={Math.max(200, 70 + rows.length * 40)} />
        <DataTable
          label={text.platforms}
          rows={rows}
          keyOf={(row) => String(row.ad_platform)}
          columns={[
            {
              name: "ad_platform",
              title: text.platform,
              total: text.all,
              cell: (row) => platformName(String(row.ad_platform)),
            },
            number("AdCost", text.spend, "money"),
            number("AppRevenue", text.revenue, "money"),
            number("AppROI", "ROI", "rate"),
            number("AppActivateStandard", text.users, "count"),
          ]}
        />
      </div>
    </section>
  );
}

function byCost(left: Item, right: Item): number {
  const more = (name: string) => numberOf(right, name) - numberOf(left, name);
  return more("AdCost") || more("AppRevenue");
}

function ReportLink({ asked: { days, reading, filtering } }: { asked: Asked }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const query = new URLSearchParams({
    app: String(app_id),
    from: days.from,
    to: days.to,
    caliber: reading.caliber,
    roi: reading.roi,
    dims: "ad_platform",
    metrics: "AdCost,AppActivateStandard,AppRevenue,AppROI",
    ...filterParameters(filtering),
  });
  return <Link href={`/report?${query}`}>{text.openReport}</Link>;
}
