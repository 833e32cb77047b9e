import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { CostAccount, CostStatus } from "../../../../src/contract/admin/cost.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { useDays, useToday } from "../../report/days.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { DateRange, type Days } from "../../ui/date-range.tsx";
import { Empty } from "../../ui/empty.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { useUrlState } from "../../url-state.ts";
import { PULLS } from "./account-query.ts";
import { PullForm } from "./pull-form.tsx";
import { PullGrid } from "./pull-grid.tsx";
import { LastPullView } from "./pull-progress.tsx";
import { texts } from "./pull-texts.ts";

const SPAN = 30;
const REFRESH_MS = 30_000;

/** The state of each account's pulls, day by day. */
export function Pulls() {
  const text = useTexts(texts);
  const app = useApp();
  const mayChange = useMay("operate");
  const today = useToday();
  const [state, change] = useUrlState({ from: "", to: "" });
  const days = useDays(state, change, SPAN);
  const [isAsking, setAsking] = useState(false);
  const status = useQuery({
    queryKey: [PULLS, app.app_id, days],
    queryFn: ({ signal }) => get<CostStatus>("cost/status", { app_id: app.app_id, ...days }, signal),
    refetchInterval: REFRESH_MS,
  });
  return (
    <>
      <div className="row apart">
        <p className="soft grow">{text.about}</p>
        {mayChange && (status.data?.accounts.length ?? 0) > 0 && (
          <Button look="main" onClick={() => setAsking(true)}>
            {text.pullNow}
          </Button>
        )}
      </div>
      <LastPullView />
      <div className="row fields">
        <DateRange days={days} today={today} onChange={change} />
      </div>
      <QueryView query={status}>{({ accounts }) => <Accounts accounts={accounts} days={days} />}</QueryView>
      {isAsking && <PullForm accounts={status.data?.accounts ?? []} onClose={() => setAsking(false)} />}
    </>
  );
}

function Accounts({ accounts, days }: { accounts: readonly CostAccount[]; days: Days }) {
  const text = useTexts(texts);
  if (accounts.length > 0) return <PullGrid accounts={accounts} days={days} />;
  return (
    <div className="table-frame">
      <Empty title={text.none}>
        <p>{text.noneHelp}</p>
      </Empty>
    </div>
  );
}
