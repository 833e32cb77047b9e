import { useMemo, useState } from "react";
import { useApp } from "../../chosen-app.tsx";
import { addDays, hourOf } from "../../format.ts";
import { type CatalogueMetric, useLabel } from "../../report/catalogue.ts";
import { useValueTexts } from "../../report/value.ts";
import { useTexts } from "../../texts.ts";
import { Chart } from "../../ui/chart.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { SelectField } from "../../ui/field.tsx";
import { Compared } from "./compared.tsx";
import { type Asked, HOURLY, HOURS, numberOf, type OverviewAnswers, type Report } from "./questions.ts";
import { texts } from "./texts.ts";

type HoursProps = { answers: OverviewAnswers; asked: Asked; metrics: readonly CatalogueMetric[] };
type Line = { name: string; day: string; values: readonly number[] };

/** Today by the hour, beside yesterday and the same day of last week. */
export function Hours({ answers, asked, metrics }: HoursProps) {
  const text = useTexts(texts);
  const label = useLabel();
  const { time_zone } = useApp();
  const [picked, setPicked] = useState<string>(HOURLY[0]!);
  const offered = HOURLY.filter((name) => name !== "AdCost" || hasHourlyCosts(answers));
  const chosen = offered.find((name) => name === picked) ?? HOURLY[0]!;
  const metric = metrics.find(({ name }) => name === chosen)!;
  const lines = useMemo(() => linesOf(answers, asked.today, { metric: chosen, text }), [answers, asked, chosen, text]);
  // The hour that is not over yet would make every comparison look bad.
  const now = HOURS.indexOf(hourOf(Date.now(), time_zone));
  return (
    <section className="card stack tight titled">
      <div className="row apart">
        <h2>{text.hours}</h2>
        <SelectField
          label={text.hourlyMetric}
          value={chosen}
          choices={offered.map((name) => ({ value: name, label: label(metrics.find((one) => one.name === name)!) }))}
          onChange={setPicked}
        />
      </div>
      <p className="soft small">{text.hoursAbout}</p>
      <SoFar lines={lines} metric={metric} hours={now} />
      <HoursChart lines={lines} metric={metric} now={now} />
      <details>
        <summary className="soft small">{text.asTable}</summary>
        <HoursTable lines={lines} metric={metric} />
      </details>
    </section>
  );
}

type Texts = (typeof texts)["en"];

function itemsOf(answers: OverviewAnswers): Report["items"] {
  return ["today and yesterday", "a week ago"].flatMap((name) => answers.report(name)?.items ?? []);
}

function hasHourlyCosts(answers: OverviewAnswers): boolean {
  return itemsOf(answers).some((item) => item.hour !== "" && numberOf(item, "AdCost") > 0);
}

function linesOf(answers: OverviewAnswers, today: string, { metric, text }: { metric: string; text: Texts }): Line[] {
  const items = itemsOf(answers);
  const byHour = new Map(items.map((item) => [`${item.date} ${item.hour}`, item]));
  const line = (name: string, day: string) => ({
    name,
    day,
    values: HOURS.map((hour) => numberOf(byHour.get(`${day} ${hour}`), metric)),
  });
  return [line(text.today, today), line(text.yesterday, addDays(today, -1)), line(text.weekAgo, addDays(today, -7))];
}

type SoFarProps = { lines: readonly Line[]; metric: CatalogueMetric; hours: number };

/** The hours of today that are over, compared with the same hours of the other days. */
function SoFar({ lines, metric, hours }: SoFarProps) {
  const text = useTexts(texts);
  const { value } = useValueTexts();
  if (hours === 0) return <p className="soft small">{text.noHour}</p>;
  const sumOf = ({ values }: Line) => values.slice(0, hours).reduce((sum, one) => sum + one, 0);
  const [today, ...others] = lines;
  const now = sumOf(today!);
  return (
    <dl className="comparisons so-far">
      <dt>{text.untilHour(HOURS[hours]!)}</dt>
      <dd className="number">{value(metric.unit, now)}</dd>
      <dd />
      {others.map((line) => (
        <Compared key={line.day} title={line.name} metric={metric} now={now} before={sumOf(line)} shown="before" />
      ))}
    </dl>
  );
}

function HoursChart({ lines, metric, now }: { lines: readonly Line[]; metric: CatalogueMetric; now: number }) {
  const text = useTexts(texts);
  const label = useLabel();
  const shown = useValueTexts();
  const option = useMemo(
    () => ({
      legend: {},
      tooltip: { valueFormatter: (value: number | null) => (value === null ? "–" : shown.value(metric.unit, value)) },
      xAxis: {
        type: "category",
        boundaryGap: false,
        data: HOURS.map((hour) => `${hour}:00`),
        splitLine: { show: false },
      },
      yAxis: { type: "value", axisLabel: { formatter: (value: number) => shown.short(metric.unit, value) } },
      series: lines.map(({ name, values }, at) => ({
        type: "line",
        name,
        symbol: "circle",
        symbolSize: at === 0 ? 6 : 4,
        lineStyle: { width: at === 0 ? 3 : 1.5, type: at === 0 ? "solid" : "dashed" },
        // The hours to come have no value yet.
        data: values.map((value, hour) => (at === 0 && hour > now ? null : value)),
      })),
    }),
    [lines, metric, now, shown],
  );
  return <Chart label={`${text.hours}: ${label(metric)}`} option={option} height={260} />;
}

function HoursTable({ lines, metric }: { lines: readonly Line[]; metric: CatalogueMetric }) {
  const text = useTexts(texts);
  const { value } = useValueTexts();
  return (
    <DataTable
      label={text.hours}
      rows={HOURS.map((hour, at) => ({ hour, at }))}
      keyOf={({ hour }) => hour}
      columns={[
        { name: "hour", title: text.hour, cell: ({ hour }) => `${hour}:00` },
        ...lines.map(({ name, day, values }) => ({
          name: day,
          title: name,
          kind: "number" as const,
          cell: ({ at }: { at: number }) => value(metric.unit, values[at]!),
        })),
      ]}
    />
  );
}
