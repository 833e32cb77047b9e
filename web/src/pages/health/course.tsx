import { useMemo } from "react";
import { useTexts } from "../../texts.ts";
import { Chart } from "../../ui/chart.tsx";
import { texts } from "./texts.ts";

export type Moment = { atMs: number; lagMs: number; backlogBytes: number };

/** The lag of the tables and the waiting backlog, one point per fetch. */
export function Course({ moments }: { moments: readonly Moment[] }) {
  const text = useTexts(texts);
  const option = useMemo(
    () => ({
      legend: {},
      xAxis: { type: "time", min: moments[0]?.atMs, max: moments.at(-1)?.atMs },
      yAxis: [
        { type: "value", minInterval: 1 },
        { type: "value", minInterval: 1, splitLine: { show: false } },
      ],
      series: [
        {
          type: "line",
          name: text.courseLag,
          showSymbol: false,
          data: moments.map(({ atMs, lagMs }) => [atMs, lagMs]),
        },
        {
          type: "line",
          name: text.courseBacklog,
          yAxisIndex: 1,
          showSymbol: false,
          data: moments.map(({ atMs, backlogBytes }) => [atMs, Math.round(backlogBytes / 1024)]),
        },
      ],
    }),
    [moments, text],
  );
  return (
    <section className="card">
      <h2>{text.course}</h2>
      <Chart label={text.course} option={option} height={180} />
    </section>
  );
}
