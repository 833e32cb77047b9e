import { useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { DryRun, PostbackRule } from "../../../../src/contract/setting/postback.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { addDays, useFormat } from "../../format.ts";
import { useToday } from "../../report/days.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useStopping } from "../../stopping.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { DateRange } from "../../ui/date-range.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useEventWords } from "./event-texts.ts";
import type { RuleFields } from "./rule-draft.ts";
import { texts } from "./rule-texts.ts";

/** A stored rule, a stored rule with unsaved changes, or a new one. */
export type TriedRule = { rule_id?: number } & Partial<RuleFields>;

export function DryRunDialog({ rule, onClose }: { rule: PostbackRule; onClose: () => void }) {
  const text = useTexts(texts).dryRun;
  const words = useEventWords();
  return (
    <Dialog title={text.title(words.moment(rule.moment))} width="wide" onClose={onClose}>
      <DryRunPanel given={{ rule_id: rule.rule_id }} />
    </Dialog>
  );
}

/** Shows what the rule would have sent. Stopping it or leaving the page also ends the work on the server. */
export function DryRunPanel({ given }: { given: TriedRule }) {
  const text = useTexts(texts).dryRun;
  const app = useApp();
  const today = useToday();
  const [days, setDays] = useState({ from: addDays(today, -6), to: today });
  const stopping = useStopping();
  const wanted = { app_id: app.app_id, ...given, ...days };
  const trying = useMutation({
    mutationFn: (body: typeof wanted) => post<DryRun>("postback/dry-run", body, stopping.begin()),
  });
  const isOutdated = JSON.stringify(trying.variables) !== JSON.stringify(wanted);
  return (
    <>
      <p className="soft">{text.about}</p>
      <div className="row fields">
        <DateRange days={days} today={today} onChange={setDays} />
        <Button disabled={trying.isPending} onClick={() => trying.mutate(wanted)}>
          {text.run}
        </Button>
      </div>
      {trying.isPending && <Running onStop={stopping.stop} />}
      {trying.error && !stopping.isStopped && <Failure error={trying.error} />}
      {trying.data && isOutdated && <p className="notice warn">{text.outdated}</p>}
      {trying.data && !trying.isPending && <DryRunResult result={trying.data} />}
    </>
  );
}

function Running({ onStop }: { onStop: () => void }) {
  const text = useTexts(texts).dryRun;
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div className="row more">
      <Progress label={text.running(seconds)} />
      <Button size="small" onClick={onStop}>
        {text.cancel}
      </Button>
    </div>
  );
}

function DryRunResult({ result }: { result: DryRun }) {
  const text = useTexts(texts).dryRun;
  const { number, cents } = useFormat();
  const { currency } = useApp();
  const platformName = usePlatformName();
  const words = useEventWords();
  const money = (amount: number) => `${cents(amount)} ${currency}`;
  if (result.sent + result.skipped === 0) {
    return (
      <p className="notice">
        {text.nothing} {text.users(number(result.users))}
      </p>
    );
  }
  return (
    <section className="stack tight" aria-live="polite">
      <p className="dry-run-sum">{text.sum(number(result.sent), money(result.amount_cents), number(result.skipped))}</p>
      <p className="soft small">{text.users(number(result.users))}</p>
      <DataTable
        label={text.table}
        rows={result.platforms}
        keyOf={({ ad_platform }) => ad_platform}
        columns={[
          { name: "platform", title: text.columns.platform, cell: ({ ad_platform }) => platformName(ad_platform) },
          { name: "sent", kind: "number", title: text.columns.sent, cell: ({ sent }) => number(sent) },
          {
            name: "amount",
            kind: "number",
            title: text.columns.amount,
            cell: ({ amount_cents }) => cents(amount_cents),
          },
          { name: "skipped", kind: "number", title: text.columns.skipped, cell: ({ skipped }) => number(skipped) },
          {
            name: "reasons",
            title: text.columns.reasons,
            cell: ({ reasons }) => (
              <div className="rule-conditions">
                {Object.entries(reasons).map(([reason, count]) => (
                  <span key={reason}>
                    {words.reason(reason)}: {number(count ?? 0)}
                  </span>
                ))}
              </div>
            ),
          },
        ]}
      />
    </section>
  );
}
