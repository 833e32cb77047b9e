import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { LedgerAnswer } from "../../../../src/contract/admin/health.ts";
import { get } from "../../api.ts";
import type { ShownApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Chart } from "../../ui/chart.tsx";
import { Empty } from "../../ui/empty.tsx";
import { SelectField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { useUrlState } from "../../url-state.ts";
import { texts } from "./texts.ts";

const REFRESH_MS = 5_000;

const RANGES = {
  hour: { step: "minute", minutes: 60 },
  day: { step: "hour", minutes: 24 * 60 },
  month: { step: "day", minutes: 29 * 24 * 60 },
} as const;
type Range = keyof typeof RANGES;

/** Shows what became of everything received, in a chart that must add up and says whether it does. */
export function Ledger({ app }: { app: ShownApp | undefined }) {
  const text = useTexts(texts);
  const [{ of, range }, change] = useUrlState({ of: "events", range: "hour" });
  const chosen: Range = range in RANGES ? (range as Range) : "hour";
  const query = useQuery({
    queryKey: ["ledger", app?.app_id, of, chosen],
    queryFn: ({ signal }) => get<LedgerAnswer>("ledger", { app_id: app?.app_id, of, ...RANGES[chosen] }, signal),
    refetchInterval: REFRESH_MS,
    enabled: app !== undefined,
  });
  const ledgers = [
    { value: "events", label: text.ofEvents },
    { value: "touches", label: text.ofTouches },
  ];
  const ranges = (Object.keys(RANGES) as Range[]).map((value) => ({ value, label: text.ranges[value] }));
  return (
    <section className="card stack">
      <div className="row apart">
        <h2>{text.ledger}</h2>
        <div className="row fields">
          <SelectField label={text.of} value={of} choices={ledgers} onChange={(value) => change({ of: value })} />
          <SelectField
            label={text.range}
            value={chosen}
            choices={ranges}
            onChange={(value) => change({ range: value })}
          />
        </div>
      </div>
      {app ? <QueryView query={query}>{(ledger) => <LedgerView ledger={ledger} />}</QueryView> : <p>{text.noApp}</p>}
    </section>
  );
}

function LedgerView({ ledger }: { ledger: LedgerAnswer }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const { total, adds_up } = ledger;
  const rejected = Object.values(total.rejected).reduce((sum, events) => sum + events, 0);
  const figures = [total.received, total.stored, total.duplicate, rejected].map(number) as [
    string,
    string,
    string,
    string,
  ];
  const option = useLedgerOption(ledger);
  return (
    <>
      <p className={adds_up ? "ledger-sum good" : "ledger-sum bad"}>
        {adds_up ? text.addsUp(...figures) : text.addsUpNot(...figures)}
      </p>
      {total.received === 0 ? (
        <Empty title={text.noLedger}>
          <p>{text.noLedgerHelp}</p>
        </Empty>
      ) : (
        <Chart label={text.ledger} option={option} height={260} />
      )}
    </>
  );
}

function useLedgerOption(ledger: LedgerAnswer) {
  const text = useTexts(texts);
  const format = useFormat();
  return useMemo(() => {
    const { steps, step, time_zone } = ledger;
    const reasons = Object.keys(ledger.total.rejected).sort();
    const bar = (name: string, data: number[]) => ({ type: "bar", stack: "all", name, data, barMaxWidth: 28 });
    const nameOf = (atMs: number) => {
      const [day = "", clock = ""] = format.instant(atMs, time_zone).split(" ");
      return step === "day" ? day.slice(5) : clock.slice(0, 5);
    };
    return {
      legend: {},
      xAxis: { type: "category", data: steps.map(({ at_ms }) => nameOf(at_ms)) },
      yAxis: { type: "value", minInterval: 1 },
      series: [
        bar(
          text.stored,
          steps.map(({ stored }) => stored),
        ),
        bar(
          text.duplicate,
          steps.map(({ duplicate }) => duplicate),
        ),
        ...reasons.map((reason) =>
          bar(
            reason,
            steps.map(({ rejected }) => rejected[reason] ?? 0),
          ),
        ),
      ],
    };
  }, [ledger, text, format]);
}
