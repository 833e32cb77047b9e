import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { AdRevenue, UnitDay } from "../../../../src/contract/admin/ad-revenue.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useDays, useToday } from "../../report/days.ts";
import { useTexts } from "../../texts.ts";
import { Clip } from "../../ui/clip.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { DateRange } from "../../ui/date-range.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Pager } from "../../ui/pager.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useUrlState } from "../../url-state.ts";
import { AD_REVENUE } from "./ecpm-query.ts";
import { texts } from "./texts.ts";

const SPAN = 7;
const DEFAULTS = { from: "", to: "", ad_unit_id: "", page: "1" };

/** What platforms say that ad units earned, beside what the reports count. */
export function Comparison() {
  const text = useTexts(texts);
  const app = useApp();
  const today = useToday();
  const [state, change] = useUrlState(DEFAULTS);
  const days = useDays(state, change, SPAN);
  const revenue = useQuery({
    queryKey: [AD_REVENUE, app.app_id, { ...state, ...days }],
    queryFn: ({ signal }) => get<AdRevenue>(AD_REVENUE, { app_id: app.app_id, ...state, ...days }, signal),
    placeholderData: keepPreviousData,
  });
  const narrow = (changes: Partial<typeof state>) => change({ ...changes, page: "1" });
  return (
    <>
      <div className="row fields">
        <DateRange days={days} today={today} onChange={narrow} />
        <SearchField label={text.unit} value={state.ad_unit_id} onSearch={(ad_unit_id) => narrow({ ad_unit_id })} />
      </div>
      <QueryView query={revenue}>
        {(data) => (
          <>
            <ComparisonTable data={data} />
            <Pager
              page={data.page_info.page}
              pageSize={data.page_info.page_size}
              rows={data.page_info.total_number}
              onPage={(page) => change({ page: String(page) })}
            />
          </>
        )}
      </QueryView>
    </>
  );
}

function ComparisonTable({ data }: { data: AdRevenue }) {
  const text = useTexts(texts);
  return (
    <DataTable
      label={text.table}
      columns={useColumns(data.total)}
      rows={data.days}
      keyOf={({ date, told_by, ad_unit_id }) => `${date} ${told_by} ${ad_unit_id}`}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    />
  );
}

function useColumns(total: AdRevenue["total"]): Column<UnitDay>[] {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  const { currency } = useApp();
  const { columns } = text;
  type Money = "reported" | "pulled" | "estimated" | "revenue" | "told" | "difference";
  const shown = (amount: number | null) => (amount === null ? text.notTold : cents(amount * 100));
  const counted = (name: "views" | "told_views", title: string): Column<UnitDay> => ({
    name,
    kind: "number",
    title,
    total: number(total[name]),
    cell: (day) => number(day[name]),
  });
  const money = (name: Money, title: string): Column<UnitDay> => ({
    name,
    kind: "number",
    title,
    total: shown(total[name]),
    cell: (day) => shown(day[name]),
  });
  return [
    {
      name: "date",
      title: columns.date,
      total: text.total,
      cell: ({ date }) => <span className="nowrap">{date}</span>,
    },
    {
      name: "unit",
      title: columns.unit,
      cell: ({ told_by, ad_unit_id }) => (told_by === "player" ? text.byPlayer : <Clip text={ad_unit_id} />),
    },
    counted("views", columns.views),
    counted("told_views", columns.toldViews),
    money("reported", columns.reported),
    money("pulled", columns.pulled),
    money("estimated", columns.estimated),
    money("revenue", columns.revenue(currency)),
    money("told", columns.told(currency)),
    money("difference", columns.difference),
  ];
}
