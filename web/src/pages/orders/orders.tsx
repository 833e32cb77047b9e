import { Link } from "wouter";
import type { OrderList } from "../../../../src/contract/report/list-record.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Empty } from "../../ui/empty.tsx";
import { Tile } from "../../ui/tile.tsx";
import { ListPage } from "../lists/list-page.tsx";
import { texts } from "./texts.ts";

export function OrdersPage() {
  const text = useTexts(texts);
  const { app_id } = useApp();
  return (
    <ListPage
      list="orders"
      title={text.title}
      about={text.about}
      usualSort={{ column: "PayEventTime", direction: "desc" }}
      keyOf={({ TraceID }) => TraceID}
      totals={(answer) => <Totals answer={answer} />}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    >
      <p className="soft">
        <Link href={`/cost?app=${app_id}&tab=upload&kind=refund`}>{text.importRefunds}</Link>
      </p>
    </ListPage>
  );
}

function Totals({ answer }: { answer: OrderList }) {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  const { currency } = useApp();
  const [total] = answer.total;
  if (!total) return null;
  return (
    <div className="tiles">
      <Tile name={text.orders} value={number(answer.page_info.total_number)} />
      <Tile name={text.amount(currency)} value={cents(total.Amount)} />
      <Tile name={text.back(currency)} value={cents(total.BackAmount)} />
      <Tile name={text.ofUsers(currency)} value={cents(total.user$pay_amount_sum)}>
        <span className="soft small">{text.greatest(cents(total.user$pay_max_amount))}</span>
      </Tile>
    </div>
  );
}
