import type { CostAccount, PulledDay } from "../../../../src/contract/admin/cost.ts";
import { useFormat } from "../../format.ts";
import { eachDay } from "../../report/days.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import type { Days } from "../../ui/date-range.tsx";
import { texts } from "./pull-texts.ts";

type Cell = { date: string; pulled: PulledDay | undefined };

/** A row per account and a square per day, so that gaps stand out. */
export function PullGrid({ accounts, days }: { accounts: readonly CostAccount[]; days: Days }) {
  const text = useTexts(texts);
  const each = eachDay(days);
  return (
    <>
      <Legend />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard */}
      <section className="table-frame" aria-label={text.table} tabIndex={0}>
        <table className="table pull-grid">
          <thead>
            <tr>
              <th scope="col">{text.account}</th>
              <th scope="col">
                <span className="pull-ends">
                  <span>{days.from}</span>
                  <span>{days.to}</span>
                </span>
              </th>
              <th scope="col">{text.state}</th>
            </tr>
          </thead>
          <tbody>
            {accounts.map((account) => (
              <AccountRow key={`${account.ad_platform} ${account.advertiser_id}`} account={account} days={each} />
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

function Legend() {
  const { states, partly } = useTexts(texts);
  return (
    <div className="row small soft pull-legend">
      {(["settled", "pulled", "missing"] as const).map((state) => (
        <span key={state} className="row nowrap">
          <span className={`pull-day ${state}`} aria-hidden />
          {states[state]}
        </span>
      ))}
      <span className="row nowrap">
        <span className="pull-day pulled partly" aria-hidden />
        {partly}
      </span>
    </div>
  );
}

function AccountRow({ account, days }: { account: CostAccount; days: readonly string[] }) {
  const platformName = usePlatformName();
  const pulled = new Map(account.days.map((day) => [day.date, day]));
  return (
    <tr>
      <th scope="row">
        <strong>{platformName(account.ad_platform)}</strong>
        <div className="soft small mono">{account.advertiser_id}</div>
      </th>
      <td>
        <div className="pull-days">
          {days.map((date) => (
            <Day key={date} cell={{ date, pulled: pulled.get(date) }} />
          ))}
        </div>
      </td>
      <td>
        <State account={account} />
      </td>
    </tr>
  );
}

function Day({ cell: { date, pulled } }: { cell: Cell }) {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  if (pulled === undefined) {
    const told = text.cellMissing(date);
    return <span className="pull-day missing" role="img" aria-label={told} title={told} />;
  }
  const state = pulled.settled ? "settled" : "pulled";
  const money = (amount: number) => cents(amount * 100);
  const told = [
    text.cell(date, text.states[state], number(pulled.rows), money(pulled.cost), pulled.pulled_at),
    ...(pulled.not_by_ad === 0 ? [] : [text.cellNotByAd(money(pulled.not_by_ad))]),
    ...(pulled.total === null ? [text.cellNoTotal] : []),
    ...(pulled.total !== null && pulled.total !== pulled.cost ? [text.cellTotal(money(pulled.total))] : []),
  ].join("; ");
  const isPartly = pulled.not_by_ad !== 0 || (pulled.total !== null && pulled.total !== pulled.cost);
  const look = ["pull-day", state, ...(isPartly ? ["partly"] : [])].join(" ");
  return <span className={look} role="img" aria-label={told} title={told} />;
}

function State({ account }: { account: CostAccount }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const { last_pull, failures, error, notes, reach_days, first_day } = account;
  return (
    <div className="account-trouble">
      {failures > 0 || error !== "" ? (
        <>
          <Badge tone="bad">{text.failing(Math.max(1, failures))}</Badge>
          <div className="small soft">{error}</div>
        </>
      ) : (
        <Badge tone="good">{text.works}</Badge>
      )}
      {notes.map((note) => (
        <div key={note} className="small">
          {note}
        </div>
      ))}
      <div className="small soft">{last_pull === "" ? text.never : text.lastPull(last_pull)}</div>
      {reach_days !== null && <div className="small soft">{text.reach(number(reach_days), first_day)}</div>}
    </div>
  );
}
