import type { CatalogueMetric } from "../../report/catalogue.ts";
import { useValueTexts } from "../../report/value.ts";
import { useTexts } from "../../texts.ts";
import { texts } from "./texts.ts";

/** Growth is good news, except for cost, where it is neither good nor bad. */
const NEITHER = new Set(["AdCost"]);

type ComparedProps = {
  title: string;
  metric: CatalogueMetric;
  now: number;
  before: number;
  /** Which of the two numbers stands beside the change. */
  shown: "now" | "before";
};

/** A line of a list of comparisons: what it is about, a number, and how it has changed. */
export function Compared({ title, metric, now, before, shown }: ComparedProps) {
  const text = useTexts(texts);
  const { value } = useValueTexts();
  const change = before === 0 ? undefined : (now - before) / Math.abs(before);
  const tone = change === undefined || change === 0 || NEITHER.has(metric.name) ? "" : change > 0 ? "good" : "bad";
  return (
    <>
      <dt>{title}</dt>
      <dd className="number">{value(metric.unit, shown === "now" ? now : before)}</dd>
      <dd className={`number change ${tone}`} title={text.changeFrom(value(metric.unit, before))}>
        {change === undefined ? "–" : change === 0 ? text.unchanged : signed(change)}
      </dd>
    </>
  );
}

function signed(change: number): string {
  const size = Math.abs(change) * 100;
  return `${change > 0 ? "▲" : "▼"} ${size >= 1000 ? ">999" : size.toFixed(1)} %`;
}
