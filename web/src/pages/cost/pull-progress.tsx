import { useMutation } from "@tanstack/react-query";
import { useEffect } from "react";
import type { CostPull, LastPull } from "../../../../src/contract/admin/cost.ts";
import { post, queries } from "../../api.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Progress } from "../../ui/progress.tsx";
import { ACCOUNT_VIEWS } from "./account-query.ts";
import { texts } from "./pull-texts.ts";
import { COSTS_KEY } from "./stored-costs.tsx";

export const LAST_PULL = "cost/pull";
const REFRESH_MS = 1_000;

/** The progress or the result of the last requested pull, no matter who requested it. */
export function LastPullView() {
  const { data } = useAppQuery<LastPull>(LAST_PULL, {
    refetchInterval: ({ state }) => (state.data?.pull?.state === "running" ? REFRESH_MS : false),
  });
  const state = data?.pull?.state;
  useEffect(() => {
    // The pulled costs show on the other tabs.
    if (state === undefined || state === "running") return;
    for (const queryKey of [...ACCOUNT_VIEWS, [COSTS_KEY]]) void queries.invalidateQueries({ queryKey });
  }, [state]);
  if (!data?.pull) return null;
  return data.pull.state === "running" ? <Running pull={data.pull} /> : <Ended pull={data.pull} />;
}

function Running({ pull }: { pull: CostPull }) {
  const text = useTexts(texts);
  const app = useApp();
  const mayChange = useMay("operate");
  const { number } = useFormat();
  const stopping = useMutation({
    mutationFn: () => post<LastPull>("cost/pull/stop", { app_id: app.app_id }),
    onSettled: () => queries.invalidateQueries({ queryKey: [LAST_PULL] }),
  });
  const share = pull.days_total === 0 ? 0 : pull.days_done / pull.days_total;
  return (
    <section className="card pull-running" aria-live="polite">
      <Progress label={text.running(number(pull.days_done), number(pull.days_total))} share={share} />
      <div className="row">
        <span className="soft small">{text.leave}</span>
        {mayChange && (
          <Button size="small" disabled={!stopping.isIdle} onClick={() => stopping.mutate()}>
            {stopping.isIdle ? text.stop : text.stopping}
          </Button>
        )}
      </div>
    </section>
  );
}

const TONES: Readonly<Record<CostPull["state"], Tone>> = {
  done: "good",
  stopped: "warn",
  failed: "bad",
  running: "accent",
};

function Ended({ pull }: { pull: CostPull }) {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  const platformName = usePlatformName();
  const { resultColumns: titles } = text;
  return (
    <details className="card pull-ended" open={pull.accounts.some(({ error }) => error !== "")}>
      <summary>
        <Badge tone={TONES[pull.state]}>{text.ended[pull.state]}</Badge> {text.endedAt(pull.ended_at)}
      </summary>
      {pull.error !== "" && <Failure error={new Error(pull.error)} />}
      {pull.accounts.length > 0 && (
        <DataTable
          label={text.resultTable}
          rows={pull.accounts}
          keyOf={({ ad_platform, advertiser_id }) => `${ad_platform} ${advertiser_id}`}
          columns={[
            {
              name: "account",
              title: titles.account,
              cell: ({ ad_platform, advertiser_id }) => `${platformName(ad_platform)} ${advertiser_id}`,
            },
            { name: "days", kind: "number", title: titles.days, cell: ({ days }) => number(days) },
            { name: "rows", kind: "number", title: titles.rows, cell: ({ rows }) => number(rows) },
            { name: "cost", kind: "number", title: titles.cost, cell: ({ cost }) => cents(cost * 100) },
            { name: "error", title: titles.error, cell: ({ error }) => error },
          ]}
        />
      )}
    </details>
  );
}
