import type { Origin } from "../../../src/contract/analysis/asked.ts";
import { useApp } from "../chosen-app.tsx";
import { useFormat } from "../format.ts";
import { useTexts } from "../texts.ts";

const texts = {
  en: {
    fresh: (instant: string) => `Counts everything received before ${instant}.`,
    took: (ms: string) => `Answered in ${ms} ms.`,
  },
  zh: {
    fresh: (instant: string) => `统计 ${instant} 之前收到的全部数据。`,
    took: (ms: string) => `查询用时 ${ms} 毫秒。`,
  },
};

/** How fresh an answer is, and how long it took. */
export function Freshness({ received_until, took_ms }: Pick<Origin, "received_until" | "took_ms">) {
  const text = useTexts(texts);
  const { instant, number } = useFormat();
  const { time_zone } = useApp();
  return (
    <span className="soft small">
      {text.fresh(instant(Date.parse(received_until), time_zone))} {text.took(number(took_ms))}
    </span>
  );
}
