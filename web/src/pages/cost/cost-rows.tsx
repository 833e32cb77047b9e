import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { CostDay, CostRow, CostRows } from "../../../../src/contract/admin/cost.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Clip } from "../../ui/clip.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Pager } from "../../ui/pager.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { texts } from "./texts.ts";

/** The filter value for rows without a platform or an account. */
const UNNAMED = "-";

/** The rows behind the cost of one day and account. */
export function CostRowsDialog({ day, onClose }: { day: CostDay; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const platformName = usePlatformName();
  const columns = useRowColumns();
  const [page, setPage] = useState(1);
  const { date, ad_platform, advertiser_id } = day;
  const rows = useQuery({
    queryKey: ["cost-rows", app.app_id, date, ad_platform, advertiser_id, page],
    queryFn: ({ signal }) => {
      const named = { ad_platform: ad_platform || UNNAMED, advertiser_id: advertiser_id || UNNAMED };
      return get<CostRows>("cost/rows", { app_id: app.app_id, from: date, to: date, ...named, page }, signal);
    },
    placeholderData: keepPreviousData,
  });
  const account = [platformName(ad_platform) || text.noPlatform, day.advertiser_name || advertiser_id];
  return (
    <Dialog title={text.rowsTitle(date, account.filter(Boolean).join(" "))} width="wide" onClose={onClose}>
      <QueryView query={rows}>
        {(data) => (
          <>
            <DataTable label={text.rowsTable} columns={columns} rows={data.rows} keyOf={(_, at) => at} />
            <Pager
              page={data.page_info.page}
              pageSize={data.page_info.page_size}
              rows={data.page_info.total_number}
              onPage={setPage}
            />
          </>
        )}
      </QueryView>
    </Dialog>
  );
}

function useRowColumns(): Column<CostRow>[] {
  const { rowColumns: titles, notByAd } = useTexts(texts);
  const { number, cents } = useFormat();
  return [
    { name: "plan", title: titles.plan, cell: ({ gid, gid_name }) => <Named id={gid} name={gid_name} /> },
    {
      name: "ad",
      title: titles.ad,
      cell: ({ aid, aid_name }) => (aid === "" ? <Badge>{notByAd}</Badge> : <Named id={aid} name={aid_name} />),
    },
    { name: "more", title: titles.more, cell: (row) => <Clip text={furtherOf(row)} /> },
    { name: "impressions", kind: "number", title: titles.impressions, cell: (row) => number(row.impressions) },
    { name: "clicks", kind: "number", title: titles.clicks, cell: (row) => number(row.clicks) },
    { name: "cost", kind: "number", title: titles.cost, cell: ({ cost }) => cents(cost * 100) },
  ];
}

function furtherOf({
  creative,
  creative_name,
  csite,
  channel,
  os_platform,
  turbo_promoted_object_id,
}: CostRow): string {
  return [creative_name || creative, csite, channel, os_platform, turbo_promoted_object_id].filter(Boolean).join(" · ");
}

function Named({ id, name }: { id: string; name: string }) {
  return (
    <div className="nowrap">
      {name !== "" && <Clip text={name} />}
      <div className="soft small mono">{id}</div>
    </div>
  );
}
