import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { ShownRuleSettings, WhatIfAnswer, WhatIfBody } from "../../../../src/contract/setting/attribution-rule.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { addDays, useFormat } from "../../format.ts";
import { useToday } from "../../report/days.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { DateRange, type Days } from "../../ui/date-range.tsx";
import { Failure } from "../../ui/failure.tsx";
import { Progress } from "../../ui/progress.tsx";
import { Tile } from "../../ui/tile.tsx";
import { isSame, type RuleDraft, rulesOf } from "./rule-draft.ts";
import { texts } from "./texts.ts";

const DAYS = 14;

type WhatIfProps = { settings: ShownRuleSettings; platform: string; draft: RuleDraft; isReady: boolean };

/** Tries unsaved rules on the registrations of past days, and shows which decisions would differ. */
export function WhatIf({ settings, platform, draft, isReady }: WhatIfProps) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const today = useToday();
  const [days, setDays] = useState<Days>({ from: addDays(today, 1 - DAYS), to: today });
  const { tried, left } = triedOf(settings, draft);
  const trying = useMutation({
    mutationFn: (asked: { rules: Record<string, string>; days: Days }) => {
      const body: WhatIfBody = { app_id, ...asked.days, ad_platform: platform, rules: asked.rules };
      return post<WhatIfAnswer>("attribution/what-if", body);
    },
  });
  const asked = trying.variables;
  const isOutdated = asked !== undefined && (!isSame(asked.rules, tried) || asked.days !== days);
  return (
    <section className="card">
      <h2>{text.tryTitle}</h2>
      <div className="stack">
        <p className="soft">{text.tryAbout}</p>
        <div className="row fields">
          <DateRange days={days} today={today} onChange={setDays} />
          <Button disabled={!isReady || trying.isPending} onClick={() => trying.mutate({ rules: tried, days })}>
            {text.tryButton}
          </Button>
        </div>
        {left.length > 0 && (
          <p className="soft small">
            {text.notTriable(left.map((name) => text.rules[name]?.label ?? name).join(" · "))}
          </p>
        )}
        {trying.isPending && <Progress label={text.trying} />}
        {trying.error && <Failure error={trying.error} />}
        {trying.data && isOutdated && <p className="notice warn">{text.outdated}</p>}
        {trying.data && !trying.isPending && <Result answer={trying.data} />}
      </div>
    </section>
  );
}

/** The rules that can be tried on past decisions, apart from those that cannot. */
function triedOf({ fields }: ShownRuleSettings, draft: RuleDraft): { tried: Record<string, string>; left: string[] } {
  const triable = new Set(fields.filter((field) => field.triable).map(({ name }) => name));
  const all = Object.entries(rulesOf(draft));
  return {
    tried: Object.fromEntries(all.filter(([name]) => triable.has(name))),
    left: all.map(([name]) => name).filter((name) => !triable.has(name)),
  };
}

type ResultRow = WhatIfAnswer["rows"][number];

function Result({ answer }: { answer: WhatIfAnswer }) {
  const text = useTexts(texts);
  const format = useFormat();
  const { decisions, moved, moved_revenue_cents, rows } = answer;
  if (decisions === 0) return <p>{text.noDecisions}</p>;
  const sum = (of: (row: ResultRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const number = (name: keyof typeof text.resultColumns, of: (row: ResultRow) => number): Column<ResultRow> => ({
    name,
    kind: "number",
    title: text.resultColumns[name],
    cell: (row) => format.number(of(row)),
    total: format.number(sum(of)),
  });
  const money = (name: keyof typeof text.resultColumns, of: (row: ResultRow) => number): Column<ResultRow> => ({
    name,
    kind: "number",
    title: text.resultColumns[name],
    cell: (row) => format.cents(of(row)),
    total: format.cents(sum(of)),
  });
  const columns: Column<ResultRow>[] = [
    {
      name: "platform",
      title: text.resultColumns.platform,
      cell: ({ ad_platform }) => ad_platform,
      total: text.total,
    },
    { name: "campaign", title: text.resultColumns.campaign, cell: ({ campaign }) => <code>{campaign}</code> },
    number("users", ({ users }) => users),
    number("usersThen", ({ users_then }) => users_then),
    number("gained", ({ gained }) => gained),
    number("lost", ({ lost }) => lost),
    money("revenue", ({ revenue_cents }) => revenue_cents),
    money("revenueThen", ({ revenue_then_cents }) => revenue_then_cents),
  ];
  return (
    <>
      <div className="tiles">
        <Tile name={text.decisions} value={format.number(decisions)} />
        <Tile name={text.moved} value={format.number(moved)} />
        <Tile name={text.movedRevenue} value={format.cents(moved_revenue_cents)} />
      </div>
      {moved === 0 ? (
        <p>{text.nobody}</p>
      ) : (
        <DataTable
          label={text.tryTitle}
          columns={columns}
          rows={rows}
          keyOf={({ ad_platform, campaign }) => `${ad_platform} ${campaign}`}
        />
      )}
    </>
  );
}
