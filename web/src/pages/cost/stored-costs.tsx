import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { CostDay, CostDays } from "../../../../src/contract/admin/cost.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useDays, useToday } from "../../report/days.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Clip } from "../../ui/clip.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { DateRange } from "../../ui/date-range.tsx";
import { Empty } from "../../ui/empty.tsx";
import { SelectField } from "../../ui/field.tsx";
import { Pager } from "../../ui/pager.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useUrlState } from "../../url-state.ts";
import { sorted, usePlatforms } from "../campaigns/platform-choice.tsx";
import { CostRowsDialog } from "./cost-rows.tsx";
import { texts } from "./texts.ts";

export const COSTS_KEY = "costs";

const SPAN = 30;
const DEFAULTS = { from: "", to: "", ad_platform: "", advertiser_id: "", page: "1" };

/** Stored costs by day and account. */
export function StoredCosts() {
  const app = useApp();
  const today = useToday();
  const [state, change] = useUrlState(DEFAULTS);
  const days = useDays(state, change, SPAN);
  const [opened, setOpened] = useState<CostDay>();
  const costs = useQuery({
    queryKey: [COSTS_KEY, app.app_id, { ...state, ...days }],
    queryFn: ({ signal }) => get<CostDays>("cost", { app_id: app.app_id, ...state, ...days }, signal),
    placeholderData: keepPreviousData,
  });
  const narrow = (changes: Partial<typeof state>) => change({ ...changes, page: "1" });
  return (
    <>
      <div className="row fields cost-filters">
        <DateRange days={days} today={today} onChange={narrow} />
        <Filters
          platform={state.ad_platform}
          advertiser={state.advertiser_id}
          onPlatform={(ad_platform) => narrow({ ad_platform })}
          onAdvertiser={(advertiser_id) => narrow({ advertiser_id })}
        />
      </div>
      <QueryView query={costs}>
        {(data) => (
          <>
            <CostTable data={data} onOpen={setOpened} />
            <Pager
              page={data.page_info.page}
              pageSize={data.page_info.page_size}
              rows={data.page_info.total_number}
              onPage={(page) => change({ page: String(page) })}
            />
          </>
        )}
      </QueryView>
      {opened && <CostRowsDialog day={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

type FiltersProps = {
  platform: string;
  advertiser: string;
  onPlatform: (name: string) => void;
  onAdvertiser: (id: string) => void;
};

function Filters({ platform, advertiser, onPlatform, onAdvertiser }: FiltersProps) {
  const text = useTexts(texts);
  const platformName = usePlatformName();
  const { data } = usePlatforms();
  const names = data ? sorted(data.platforms).map(({ name }) => name) : [platform].filter(Boolean);
  return (
    <>
      <SelectField
        label={text.platform}
        value={platform}
        choices={[
          { value: "", label: text.anyPlatform },
          ...names.map((name) => ({ value: name, label: platformName(name) })),
        ]}
        onChange={onPlatform}
      />
      <SearchField label={text.advertiser} value={advertiser} onSearch={onAdvertiser} />
    </>
  );
}

function CostTable({ data, onOpen }: { data: CostDays; onOpen: (day: CostDay) => void }) {
  const text = useTexts(texts);
  return (
    <DataTable
      label={text.table}
      columns={useColumns(data, onOpen)}
      rows={data.days}
      keyOf={({ date, ad_platform, advertiser_id }) => `${date} ${ad_platform} ${advertiser_id}`}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    />
  );
}

/** The platform, and the account's name and id. */
export function AccountName({ day }: { day: Pick<CostDay, "ad_platform" | "advertiser_id" | "advertiser_name"> }) {
  const text = useTexts(texts);
  const platformName = usePlatformName();
  return (
    <div className="nowrap">
      <strong>{day.ad_platform === "" ? text.noPlatform : platformName(day.ad_platform)}</strong>
      <div className="soft small">
        <Clip text={[day.advertiser_name, day.advertiser_id || text.noAdvertiser].filter(Boolean).join(" · ")} />
      </div>
    </div>
  );
}

function useColumns(data: CostDays, onOpen: (day: CostDay) => void): Column<CostDay>[] {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  const { currency } = useApp();
  const { columns } = text;
  const counted = (name: "rows" | "impressions" | "clicks"): Column<CostDay> => ({
    name,
    kind: "number",
    title: columns[name],
    total: number(data.total[name]),
    cell: (day) => number(day[name]),
  });
  return [
    {
      name: "date",
      title: columns.date,
      total: text.total,
      cell: ({ date }) => <span className="nowrap">{date}</span>,
    },
    { name: "account", title: columns.account, cell: (day) => <AccountName day={day} /> },
    counted("rows"),
    counted("impressions"),
    counted("clicks"),
    {
      name: "cost",
      kind: "number",
      title: columns.cost(currency),
      total: cents(data.total.cost * 100),
      cell: ({ cost, not_by_ad }) => (
        <>
          {cents(cost * 100)}
          {not_by_ad !== 0 && <div className="soft small nowrap">{text.notByAdPart(cents(not_by_ad * 100))}</div>}
        </>
      ),
    },
    {
      name: "source",
      title: columns.source,
      cell: ({ source }) => <Badge tone={source === "pull" ? "accent" : "plain"}>{text.sources[source]}</Badge>,
    },
    {
      name: "changed",
      title: columns.changed,
      cell: ({ changed_at }) => <span className="soft nowrap">{changed_at}</span>,
    },
    {
      name: "actions",
      title: columns.actions,
      cell: (day) => (
        <Button size="small" onClick={() => onOpen(day)}>
          {text.open}
        </Button>
      ),
    },
  ];
}
