import { useMemo } from "react";
import type { MetricUnit } from "../../report/catalogue.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useValueTexts } from "../../report/value.ts";
import { useTexts } from "../../texts.ts";
import { Chart } from "../../ui/chart.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { numberOf, type OverviewAnswers, WINDOW_DAYS, windowOf } from "./questions.ts";
import { texts } from "./texts.ts";

const PLATFORMS_MAX = 5;
/** The value for organic users, who cost nothing and so have no ROI. */
const ORGANIC = "natural";

type Line = { name: string; points: (readonly [number, number])[] };

/** ROI or LTV by day since registration, for all users and for the platforms with the highest cost. */
export function Curves({ answers }: { answers: OverviewAnswers }) {
  const text = useTexts(texts);
  if (!answers.report("day 1")) return <p className="notice">{text.noCohort}</p>;
  return (
    <div className="grid">
      <Curve title={text.roiCurve} what="ROI" unit="rate" answers={answers} />
      <Curve title={text.ltvCurve} what="LTV" unit="money" answers={answers} />
    </div>
  );
}

type CurveProps = { title: string; what: "ROI" | "LTV"; unit: MetricUnit; answers: OverviewAnswers };

function Curve({ title, what, unit, answers }: CurveProps) {
  const text = useTexts(texts);
  const platformName = usePlatformName();
  const shown = useValueTexts();
  const lines = useMemo((): Line[] => {
    const platforms = platformsOf(answers).filter((name) => what === "LTV" || name !== ORGANIC);
    return [
      { name: text.all, points: pointsOf(answers, what, undefined) },
      ...platforms.map((name) => ({ name: platformName(name), points: pointsOf(answers, what, name) })),
    ];
  }, [answers, what, text, platformName]);
  const days = WINDOW_DAYS.filter((day) => lines[0]!.points.some(([on]) => on === day));
  const option = useMemo(
    () => ({
      legend: {},
      tooltip: { valueFormatter: (value: number) => shown.value(unit, value) },
      xAxis: {
        type: "category",
        boundaryGap: false,
        data: days.map((day) => text.dayNumber(day)),
        splitLine: { show: false },
      },
      yAxis: { type: "value", axisLabel: { formatter: (value: number) => shown.short(unit, value) } },
      series: lines.map(({ name, points }, at) => ({
        type: "line",
        name,
        symbol: "circle",
        symbolSize: 7,
        lineStyle: { width: at === 0 ? 3 : 1.5 },
        data: days.map((day) => points.find(([on]) => on === day)?.[1] ?? null),
        ...(at === 0 && what === "ROI" && { markLine: breakEven(text.breakEven) }),
      })),
    }),
    [lines, days.join(), shown, text, what, unit],
  );
  return (
    <section className="card stack tight titled">
      <h2>{title}</h2>
      <p className="soft small">{text.curveAbout}</p>
      <Chart label={title} option={option} height={280} />
      <details>
        <summary className="soft small">{text.asTable}</summary>
        <CurveTable title={title} lines={lines} unit={unit} />
      </details>
    </section>
  );
}

function breakEven(label: string) {
  return {
    silent: true,
    symbol: "none",
    data: [{ yAxis: 1 }],
    lineStyle: { type: "dashed", opacity: 0.6 },
    label: { formatter: label, position: "insideEndTop", color: "inherit", textBorderWidth: 0 },
  };
}

function CurveTable({ title, lines, unit }: { title: string; lines: readonly Line[]; unit: MetricUnit }) {
  const text = useTexts(texts);
  const { value } = useValueTexts();
  return (
    <DataTable
      label={title}
      rows={lines}
      keyOf={({ name }) => name}
      columns={[
        { name: "platform", title: text.platform, cell: ({ name }: Line) => name },
        ...WINDOW_DAYS.map((day) => ({
          name: String(day),
          title: text.dayNumber(day),
          kind: "number" as const,
          cell: ({ points }: Line) => {
            const point = points.find(([on]) => on === day);
            return point ? value(unit, point[1]) : "–";
          },
        })),
      ]}
    />
  );
}

/** The platforms with the highest cost, in descending order. */
function platformsOf(answers: OverviewAnswers): string[] {
  const items = [...(answers.report("platforms")?.items ?? [])];
  items.sort((left, right) => numberOf(right, "AdCost") - numberOf(left, "AdCost"));
  return items.slice(0, PLATFORMS_MAX).map((item) => String(item.ad_platform));
}

/** Leaves out days that no cohort has reached yet. */
function pointsOf(answers: OverviewAnswers, what: "ROI" | "LTV", platform: string | undefined): Line["points"] {
  return WINDOW_DAYS.flatMap((day) => {
    const report = answers.report(`day ${day}`);
    if (!report || report.items.length === 0) return [];
    const row = platform === undefined ? report.total[0] : report.items.find((item) => item.ad_platform === platform);
    return row ? [[day, numberOf(row, windowOf(day, what))] as const] : [];
  });
}
