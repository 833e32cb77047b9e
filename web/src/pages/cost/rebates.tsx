import { useState } from "react";
import type { RebateList, ShownRebate } from "../../../../src/contract/setting/rebate.ts";
import { post } from "../../api.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { AccountName } from "../../ui/account-name.tsx";
import { useActionColumn } from "../../ui/action-column.tsx";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ListHead } from "../../ui/list-head.tsx";
import { usePeriodText } from "../../ui/period.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { RebateForm } from "./rebate-form.tsx";
import { REBATE_VIEWS, REBATES } from "./rebate-query.ts";
import { texts } from "./rebate-texts.ts";

type Doing = { kind: "create" } | { kind: "edit" | "remove"; rebate: ShownRebate };

/** What accounts get back of what their ads cost. */
export function Rebates() {
  const text = useTexts(texts);
  const [doing, setDoing] = useState<Doing>();
  const rebates = useAppQuery<RebateList>(REBATES);
  const close = () => setDoing(undefined);
  return (
    <>
      <ListHead needs="operate" about={text.about} add={text.newRebate} onAdd={() => setDoing({ kind: "create" })} />
      <QueryView query={rebates}>{(data) => <RebateTable rebates={data.rebates} onDo={setDoing} />}</QueryView>
      {doing?.kind === "create" && <RebateForm onClose={close} />}
      {doing?.kind === "edit" && <RebateForm rebate={doing.rebate} onClose={close} />}
      {doing?.kind === "remove" && <RemoveDialog rebate={doing.rebate} onClose={close} />}
    </>
  );
}

function RebateTable({ rebates, onDo }: { rebates: readonly ShownRebate[]; onDo: (doing: Doing) => void }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const period = usePeriodText();
  const { columns: titles } = text;
  const actions = useActionColumn<ShownRebate>({
    needs: "operate",
    onEdit: (rebate) => onDo({ kind: "edit", rebate }),
    onRemove: (rebate) => onDo({ kind: "remove", rebate }),
  });
  const columns: Column<ShownRebate>[] = [
    {
      name: "account",
      title: titles.account,
      cell: ({ ad_platform, advertiser_id }) => (
        <AccountName platform={ad_platform} advertiser={advertiser_id} none={text.noAdvertiser} />
      ),
    },
    { name: "period", title: titles.period, cell: period },
    { name: "cash", kind: "number", title: titles.cash, cell: ({ cash_percent }) => `${number(cash_percent)} %` },
    {
      name: "credit",
      kind: "number",
      title: titles.credit,
      cell: ({ credit_percent }) => `${number(credit_percent)} %`,
    },
    { name: "paid", kind: "number", title: titles.paid, cell: (rebate) => paidOf100(rebate).toFixed(2) },
    ...actions,
  ];
  return (
    <DataTable
      label={text.table}
      columns={columns}
      rows={rebates}
      keyOf={({ ad_platform, advertiser_id, start_date }) => `${ad_platform} ${advertiser_id} ${start_date}`}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    />
  );
}

/** An example that shows which way a share works. Reports compute exactly, from the costs. */
function paidOf100({ cash_percent, credit_percent }: ShownRebate): number {
  return (100 * (100 - cash_percent)) / (100 + credit_percent);
}

function RemoveDialog({ rebate, onClose }: { rebate: ShownRebate; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const platformName = usePlatformName();
  const period = usePeriodText();
  const { ad_platform, advertiser_id, start_date } = rebate;
  return (
    <ChangeDialog
      title={text.removeTitle}
      submit={{ label: text.remove, look: "danger" }}
      ask={() => post<object>("rebates/remove", { app_id: app.app_id, ad_platform, advertiser_id, start_date })}
      stale={REBATE_VIEWS}
      said={() => text.removed}
      onClose={onClose}
    >
      <p>{text.removeAbout(`${platformName(ad_platform)} ${advertiser_id}`.trimEnd(), period(rebate))}</p>
    </ChangeDialog>
  );
}
