import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { CampaignList, ListedCampaign } from "../../../../src/contract/setting/campaign.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Clip } from "../../ui/clip.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Pager } from "../../ui/pager.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useUrlState } from "../../url-state.ts";
import { CampaignForm } from "./campaign-form.tsx";
import { LinksDialog } from "./links.tsx";
import { texts } from "./texts.ts";
import "./campaigns.css";

type Doing = { kind: "create" } | { kind: "edit" | "links"; campaign: ListedCampaign };

export function CampaignsPage() {
  const text = useTexts(texts);
  const app = useApp();
  const mayChange = useMay("operate");
  const [{ search, page }, change] = useUrlState({ search: "", page: "1" });
  const [doing, setDoing] = useState<Doing>();
  const campaigns = useQuery({
    queryKey: ["campaigns", app.app_id, search, page],
    queryFn: ({ signal }) => get<CampaignList>("campaigns", { app_id: app.app_id, search, page }, signal),
    placeholderData: keepPreviousData,
  });
  const close = () => setDoing(undefined);
  const newButton = mayChange && (
    <Button look="main" onClick={() => setDoing({ kind: "create" })}>
      {text.newCampaign}
    </Button>
  );
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        {newButton}
      </PageHead>
      <div className="row fields campaign-search">
        <SearchField
          label={text.search}
          placeholder={text.searchHint}
          value={search}
          onSearch={(next) => change({ search: next, page: "1" })}
        />
      </div>
      <QueryView query={campaigns}>
        {(data) => (
          <>
            <CampaignTable data={data} search={search} onDo={setDoing} />
            <Pager
              page={data.page_info.page}
              pageSize={data.page_info.page_size}
              rows={data.page_info.total_number}
              onPage={(next) => change({ page: String(next) })}
            />
          </>
        )}
      </QueryView>
      {doing?.kind === "create" && <CampaignForm onClose={close} />}
      {doing?.kind === "edit" && <CampaignForm campaign={doing.campaign} onClose={close} />}
      {doing?.kind === "links" && <LinksDialog campaign={doing.campaign} onClose={close} />}
    </>
  );
}

type TableProps = { data: CampaignList; search: string; onDo: (doing: Doing) => void };

function CampaignTable({ data, search, onDo }: TableProps) {
  const text = useTexts(texts);
  return (
    <DataTable
      label={text.table}
      columns={useColumns(data.recent_days, onDo)}
      rows={data.campaigns}
      keyOf={({ turbo_promoted_object_id }) => turbo_promoted_object_id}
      empty={
        search === "" ? (
          <Empty title={text.none}>
            <p>{text.noneHelp}</p>
          </Empty>
        ) : (
          <Empty title={text.noneFound(search)}>
            <p>{text.noneFoundHelp}</p>
          </Empty>
        )
      }
    />
  );
}

/** Counts of zero are shown pale. */
function Count({ value }: { value: number }) {
  const { number } = useFormat();
  return <span className={value === 0 ? "soft" : undefined}>{number(value)}</span>;
}

function useColumns(days: number, onDo: TableProps["onDo"]): Column<ListedCampaign>[] {
  const text = useTexts(texts);
  const mayChange = useMay("operate");
  const seesLinks = useMay("detail");
  const platformName = usePlatformName();
  const { columns } = text;
  const counted = (["clicks", "impressions", "users"] as const).map(
    (name): Column<ListedCampaign> => ({
      name,
      kind: "number",
      title: columns[name](days),
      cell: ({ recent }) => <Count value={recent[name]} />,
    }),
  );
  return [
    {
      name: "name",
      title: columns.name,
      cell: ({ name, turbo_promoted_object_id }) => (
        <div className="campaign-name">
          {name === "" ? <span className="soft">{text.unnamed}</span> : <strong>{name}</strong>}
          <div className="soft small mono nowrap">{turbo_promoted_object_id}</div>
        </div>
      ),
    },
    {
      name: "platform",
      title: columns.platform,
      cell: ({ ad_platform }) => (
        <span className="nowrap">{ad_platform === "" ? text.noPlatform : platformName(ad_platform)}</span>
      ),
    },
    {
      name: "channel",
      title: columns.channel,
      cell: ({ channel, os_platform }) => <Clip text={[channel, os_platform].filter(Boolean).join(" · ")} />,
    },
    {
      name: "people",
      title: columns.people,
      cell: ({ operator, dept }) => <Clip text={[operator, dept].filter(Boolean).join(" · ")} />,
    },
    ...counted,
    {
      name: "created",
      title: columns.created,
      cell: ({ created_at }) => <span className="nowrap">{created_at.slice(0, 10)}</span>,
    },
    {
      name: "actions",
      title: columns.actions,
      cell: (campaign) => (
        <span className="row nowrap">
          {seesLinks && (
            <Button size="small" onClick={() => onDo({ kind: "links", campaign })}>
              {text.links}
            </Button>
          )}
          {mayChange && (
            <Button size="small" onClick={() => onDo({ kind: "edit", campaign })}>
              {text.edit}
            </Button>
          )}
        </span>
      ),
    },
  ];
}
