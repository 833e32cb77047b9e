import type { HealthAnswer } from "../../../../src/contract/admin/health.ts";
import { useAppName } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { texts } from "./texts.ts";

/** Postbacks to ad platforms, costs from them, and problems with either. Tables without rows are left out. */
export function Outbound({ health }: { health: HealthAnswer }) {
  const { accounts, cost_pulls: costs, orders_without_rate: orders } = health;
  const broken = accounts.filter(({ last_error, refresh_state }) => last_error !== "" || refresh_state !== "lasts");
  return (
    <>
      <Lanes lanes={health.lanes} />
      {broken.length > 0 && <Accounts accounts={broken} />}
      {costs.length > 0 && <Costs costs={costs} />}
      {orders.length > 0 && <Orders orders={orders} />}
    </>
  );
}

type Lane = HealthAnswer["lanes"][number];

function Lanes({ lanes }: { lanes: readonly Lane[] }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const nameOf = useAppName();
  const columns: Column<Lane>[] = [
    { name: "app", title: text.app, cell: ({ app_id }) => nameOf(app_id) },
    { name: "to", title: text.to, cell: ({ to }) => to },
    { name: "waiting", title: text.waitingCount, kind: "number", cell: ({ waiting }) => number(waiting) },
    { name: "in_flight", title: text.flying, kind: "number", cell: ({ in_flight }) => number(in_flight) },
    { name: "due", title: text.due, cell: ({ first_due_at }) => first_due_at },
    { name: "state", title: text.state, cell: (lane) => <LaneState lane={lane} /> },
  ];
  return (
    <section className="stack tight">
      <h2>{text.waiting}</h2>
      <DataTable
        label={text.waiting}
        columns={columns}
        rows={lanes}
        keyOf={({ app_id, to }) => `${app_id} ${to}`}
        empty={<p className="quiet-row soft">{text.noWaiting}</p>}
      />
    </section>
  );
}

function LaneState({ lane: { paused_until, failures } }: { lane: Lane }) {
  const text = useTexts(texts);
  if (paused_until === "") return <Badge tone="good">{text.sending}</Badge>;
  return (
    <span className="row">
      <Badge tone="bad">{text.paused(paused_until)}</Badge>
      <span className="soft small">{text.failuresBefore(failures)}</span>
    </span>
  );
}

type Account = HealthAnswer["accounts"][number];

function Accounts({ accounts }: { accounts: readonly Account[] }) {
  const text = useTexts(texts);
  const nameOf = useAppName();
  const columns: Column<Account>[] = [
    { name: "app", title: text.app, cell: ({ app_id }) => nameOf(app_id) },
    { name: "account", title: text.account, cell: accountName },
    { name: "error", title: text.error, cell: (account) => <AccountTrouble account={account} /> },
    { name: "at", title: text.at, cell: ({ last_error_at }) => last_error_at },
  ];
  return (
    <section className="stack tight">
      <h2>{text.accounts}</h2>
      <DataTable label={text.accounts} columns={columns} rows={accounts} keyOf={keyOfAccount} />
    </section>
  );
}

function AccountTrouble({ account: { last_error, refresh_state, refresh_expires_at } }: { account: Account }) {
  const text = useTexts(texts);
  return (
    <>
      {last_error !== "" && <span className="fault">{last_error}</span>}
      {refresh_state !== "lasts" && <div>{text.refreshUntil(refresh_expires_at)}</div>}
    </>
  );
}

type CostPull = HealthAnswer["cost_pulls"][number];

function Costs({ costs }: { costs: readonly CostPull[] }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const nameOf = useAppName();
  const columns: Column<CostPull>[] = [
    { name: "app", title: text.app, cell: ({ app_id }) => nameOf(app_id) },
    { name: "account", title: text.account, cell: accountName },
    { name: "last", title: text.lastPull, cell: ({ last_pull }) => last_pull || text.never },
    { name: "settled", title: text.settled, cell: ({ settled_until }) => settled_until || "–" },
    { name: "failures", title: text.failures, kind: "number", cell: ({ failures }) => number(failures) },
    {
      name: "error",
      title: text.state,
      cell: ({ error, notes }) => {
        if (error !== "") return <span className="fault">{error}</span>;
        return notes.length === 0 ? <Badge tone="good">{text.fine}</Badge> : notes.join(" ");
      },
    },
  ];
  return (
    <section className="stack tight">
      <h2>{text.costs}</h2>
      <DataTable label={text.costs} columns={columns} rows={costs} keyOf={keyOfAccount} />
    </section>
  );
}

type OrderSum = HealthAnswer["orders_without_rate"][number];

function Orders({ orders }: { orders: readonly OrderSum[] }) {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  const nameOf = useAppName();
  const columns: Column<OrderSum>[] = [
    { name: "app", title: text.app, cell: ({ app_id }) => nameOf(app_id) },
    { name: "currency", title: text.currency, cell: ({ currency }) => currency },
    { name: "orders", title: text.orders, kind: "number", cell: (row) => number(row.orders) },
    { name: "amount", title: text.amount, kind: "number", cell: ({ amount }) => cents(amount) },
    {
      name: "state",
      title: text.state,
      cell: ({ is_rate_set }) => (
        <Badge tone={is_rate_set ? "plain" : "warn"}>{is_rate_set ? text.rateSet : text.rateMissing}</Badge>
      ),
    },
  ];
  return (
    <section className="stack tight">
      <h2>{text.rates}</h2>
      <DataTable
        label={text.rates}
        columns={columns}
        rows={orders}
        keyOf={({ app_id, currency }) => `${app_id} ${currency}`}
      />
    </section>
  );
}

type Named = { app_id: number; ad_platform: string; advertiser_id: string };

function accountName({ ad_platform, advertiser_id }: Named): string {
  return `${ad_platform} ${advertiser_id}`.trim();
}

function keyOfAccount(account: Named): string {
  return `${account.app_id} ${accountName(account)}`;
}
