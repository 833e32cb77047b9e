import { addDays } from "../../format.ts";
import { type CatalogueMetric, useLabel } from "../../report/catalogue.ts";
import { eachDay } from "../../report/days.ts";
import { useValueTexts } from "../../report/value.ts";
import { useTexts } from "../../texts.ts";
import { Tile } from "../../ui/tile.tsx";
import { Compared } from "./compared.tsx";
import { type Asked, lastWholeDay, numberOf, type OverviewAnswers, TILES } from "./questions.ts";
import { texts } from "./texts.ts";

type TilesProps = { answers: OverviewAnswers; asked: Asked; metrics: readonly CatalogueMetric[] };

/** The totals of the range, beside the last whole day and the last week, each compared with the one before. */
export function Tiles({ answers, asked, metrics }: TilesProps) {
  const label = useLabel();
  const { value } = useValueTexts();
  const range = answers.report("range")!;
  const byDay = new Map(range.items.map((item) => [item.date, item]));
  const days = eachDay(asked.days);
  return (
    <div className="tiles overview-tiles">
      {TILES.map((name) => {
        const metric = metrics.find((one) => one.name === name)!;
        return (
          <Tile key={name} name={label(metric)} value={value(metric.unit, numberOf(range.total[0], name))}>
            <Sparkline values={days.map((day) => numberOf(byDay.get(day), name))} />
            <Comparisons answers={answers} asked={asked} metric={metric} />
          </Tile>
        );
      })}
    </div>
  );
}

type ComparisonsProps = { answers: OverviewAnswers; asked: Asked; metric: CatalogueMetric };

function Comparisons({ answers, asked, metric }: ComparisonsProps) {
  const text = useTexts(texts);
  const last = lastWholeDay(asked);
  const isYesterday = last === addDays(asked.today, -1);
  const byDay = new Map(answers.report("last days")!.items.map((item) => [item.date, item]));
  const on = (day: string) => numberOf(byDay.get(day), metric.name);
  const within = (name: string) => numberOf(answers.report(name)?.total[0], metric.name);
  return (
    <dl className="comparisons">
      <Compared
        title={isYesterday ? text.yesterday : last}
        metric={metric}
        now={on(last)}
        before={on(addDays(last, -1))}
        shown="now"
      />
      <Compared
        title={isYesterday ? text.lastWeek : text.weekUntil(last)}
        metric={metric}
        now={within("last week")}
        before={within("week before")}
        shown="now"
      />
    </dl>
  );
}

const WIDTH = 100;
const HEIGHT = 24;

/** The trend over the days of the range; the figures give the amounts. */
function Sparkline({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null;
  const least = Math.min(...values, 0);
  const height = Math.max(...values) - least || 1;
  const points = values.map((value, at) => {
    const x = (at / (values.length - 1)) * WIDTH;
    return `${x.toFixed(1)},${(HEIGHT - 1 - ((value - least) / height) * (HEIGHT - 2)).toFixed(1)}`;
  });
  return (
    <svg className="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(" ")} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
