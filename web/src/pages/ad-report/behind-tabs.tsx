import { useState } from "react";
import { Link } from "wouter";
import type { ExplainedCell, ShownCatalogue } from "../../../../src/contract/admin/console-report.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useLabel } from "../../report/catalogue.ts";
import { useDimensionValue } from "../../report/dimension-value.ts";
import { useValueTexts } from "../../report/value.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { userAddress } from "../lists/user-address.ts";
import { texts } from "./texts.ts";

type BehindProps = { explained: ExplainedCell; catalogue: ShownCatalogue };

/** The users, orders and costs behind a number, with tabs only for the kinds that it is made of. */
export function BehindTabs({ explained, catalogue }: BehindProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const kinds = (["users", "orders", "costs"] as const).filter((kind) => explained.numbers[kind] > 0);
  const [chosen, setChosen] = useState<string>();
  const shown = kinds.find((kind) => kind === chosen) ?? kinds[0];
  if (shown === undefined) return <p className="soft">{text.nothingBehind}</p>;
  const tabs = kinds.map((kind) => ({ name: kind, title: `${text[kind]} (${number(explained.numbers[kind])})` }));
  const listed = explained[shown].length;
  return (
    <Tabs tabs={tabs} chosen={shown} onChoose={setChosen}>
      {listed < explained.numbers[shown] && (
        <p className="soft small">{text.firstOf(number(listed), number(explained.numbers[shown]))}</p>
      )}
      {shown === "users" && <Users explained={explained} catalogue={catalogue} />}
      {shown === "orders" && <Orders explained={explained} />}
      {shown === "costs" && <Costs explained={explained} catalogue={catalogue} />}
    </Tabs>
  );
}

function UserLink({ clientId }: { clientId: string }) {
  const { app_id } = useApp();
  return <Link href={userAddress(app_id, clientId)}>{clientId}</Link>;
}

/** One column for each sum that these rows have. */
function useMeasureColumns<Row extends Record<string, unknown>>(
  { measures }: ShownCatalogue,
  names: readonly string[],
): Column<Row>[] {
  const label = useLabel();
  const { parts } = useValueTexts();
  return measures
    .filter(({ name }) => names.includes(name))
    .map((measure) => ({
      name: measure.name,
      title: label(measure),
      kind: "number" as const,
      cell: (row: Row) => parts(measure.unit, Number(row[measure.name])),
    }));
}

type User = ExplainedCell["users"][number];

function Users({ explained, catalogue }: BehindProps) {
  const text = useTexts(texts);
  const names = Object.keys(explained.added.users);
  // What share rules say is shown only where one applies.
  const shown = names.filter((name) => !/^(?:ruled|share)_/.test(name) || explained.added.users[name]);
  const measures = useMeasureColumns<User>(catalogue, shown);
  return (
    <DataTable
      label={text.users}
      rows={explained.users}
      keyOf={({ client_id }) => client_id}
      columns={[
        { name: "user", title: text.user, cell: ({ client_id }) => <UserLink clientId={client_id} /> },
        ...measures,
      ]}
    />
  );
}

type Order = ExplainedCell["orders"][number];

function Orders({ explained }: { explained: ExplainedCell }) {
  const text = useTexts(texts);
  const { parts, value } = useValueTexts();
  const share: Column<Order> = {
    name: "share",
    title: text.orderShare,
    kind: "number",
    cell: (order) => value("rate", order.share),
  };
  return (
    <DataTable
      label={text.orders}
      rows={explained.orders}
      keyOf={({ trace_id, kind }, index) => `${index} ${kind} ${trace_id}`}
      columns={[
        { name: "order", title: text.order, cell: (order) => <OrderId order={order} /> },
        { name: "user", title: text.user, cell: ({ client_id }) => <UserLink clientId={client_id} /> },
        { name: "time", title: text.time, cell: ({ time }) => time },
        { name: "amount", title: text.amount, kind: "number", cell: ({ cents }) => parts("cents", cents) },
        ...(explained.formula.has_pay_share ? [share] : []),
      ]}
    />
  );
}

/** An order's id, with what was paid back of it: platforms that were told of the order still count it. */
function OrderId({ order }: { order: ExplainedCell["orders"][number] }) {
  const text = useTexts(texts);
  const { cents } = useFormat();
  const { kind, refunded_cents, back_cents } = order;
  return (
    <>
      <span className="mono">{order.trace_id}</span> {kind === "refund" && <Badge tone="warn">{text.refund}</Badge>}
      {refunded_cents > 0 && (
        <div className="soft small">
          {back_cents > 0
            ? text.refundedTold(cents(refunded_cents), cents(back_cents))
            : text.refunded(cents(refunded_cents))}
        </div>
      )}
    </>
  );
}

type Cost = ExplainedCell["costs"][number];

function Costs({ explained, catalogue }: BehindProps) {
  const text = useTexts(texts);
  const label = useLabel();
  const valueText = useDimensionValue();
  const measures = useMeasureColumns<Cost>(catalogue, ["cost_e4", "real_cost_e4", "impressions", "clicks"]);
  // Most dimensions of a cost are usually unknown, so only those that some cost has are columns.
  const named = catalogue.dimensions.filter(({ name }) => explained.costs.some((cost) => (cost[name] ?? "") !== ""));
  return (
    <DataTable
      label={text.costs}
      rows={explained.costs}
      keyOf={(cost, index) => `${index} ${cost.day}`}
      columns={[
        { name: "day", title: text.day, cell: ({ day }: Cost) => day },
        ...named.map((dimension) => ({
          name: dimension.name,
          title: label(dimension),
          cell: (cost: Cost) => valueText(dimension.name, String(cost[dimension.name] ?? "")),
        })),
        ...measures,
      ]}
    />
  );
}
