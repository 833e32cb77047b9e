import { useMemo } from "react";
import type { EventsLine } from "../../../../../src/contract/analysis/events.ts";
import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { Chart } from "../../../ui/chart.tsx";
import type { AskedEvents } from "../answer/answer-query.ts";
import { texts } from "../texts.ts";
import type { LineNames } from "./line-names.ts";

const LINES_MAX = 20;

type AnswerChartProps = { asked: AskedEvents; type: string; names: LineNames };

/** Lines or bars over time; without buckets, a bar for each line. The earlier range is dashed, in the same colours. */
export function AnswerChart({ asked, type, names }: AnswerChartProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const { answer, question } = asked;
  const lines = answer.lines.slice(0, LINES_MAX);
  const option = useMemo(() => {
    const shown = (value: number | null) => (value === null ? "–" : number(value));
    const drawing = { lines, names, shown, earlier: text.earlier };
    return question.by === "total" ? totals(drawing) : overTime({ ...drawing, type, buckets: answer.buckets });
  }, [asked, type, names.fields.join(), text, number]);
  return (
    <>
      <Chart label={`${text.chart}: ${lines.map(names.full).join(", ")}`} option={option} height={320} />
      {answer.lines.length > lines.length && (
        <span className="soft small">{text.firstLines(lines.length, number(answer.lines.length))}</span>
      )}
    </>
  );
}

type Drawing = {
  lines: readonly EventsLine[];
  names: LineNames;
  shown: (value: number | null) => string;
  earlier: string;
};

function overTime({ lines, names, shown, earlier, type, buckets }: Drawing & { type: string; buckets: string[] }) {
  const isBar = type === "bar";
  const plain = (line: EventsLine) => ({
    type: isBar ? "bar" : "line",
    // Series of one name have one colour, and are switched on and off together.
    name: names.full(line),
    barMaxWidth: 32,
    symbol: "circle",
    symbolSize: 6,
    showSymbol: buckets.length <= 31,
    data: line.values,
    tooltip: { valueFormatter: shown },
  });
  const before = (line: EventsLine) => ({
    ...plain(line),
    data: line.earlier?.values ?? [],
    lineStyle: { type: "dashed", opacity: 0.7 },
    itemStyle: { opacity: 0.5 },
    tooltip: { valueFormatter: (value: number | null) => `${shown(value)} (${earlier})` },
  });
  return {
    legend: {},
    xAxis: { type: "category", data: buckets, boundaryGap: isBar },
    yAxis: { type: "value", axisLabel: { formatter: shown } },
    series: lines.flatMap((line) => (line.earlier ? [plain(line), before(line)] : [plain(line)])),
  };
}

function totals({ lines, names, shown, earlier }: Drawing) {
  const bars = (values: (number | null)[]) => ({
    type: "bar",
    barMaxWidth: 32,
    data: values,
    tooltip: { valueFormatter: shown },
  });
  const before = lines.map((line) => line.earlier?.total ?? null);
  const hasEarlier = lines.some((line) => line.earlier);
  return {
    xAxis: { type: "value", axisLabel: { formatter: shown } },
    yAxis: { type: "category", inverse: true, data: lines.map(names.full) },
    series: [
      bars(lines.map(({ total }) => total)),
      ...(hasEarlier ? [{ ...bars(before), name: earlier, itemStyle: { opacity: 0.5 } }] : []),
    ],
  };
}
