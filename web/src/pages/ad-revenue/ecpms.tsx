import { useState } from "react";
import type { EcpmList, ShownEcpm } from "../../../../src/contract/setting/ecpm.ts";
import { post } from "../../api.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { useActionColumn } from "../../ui/action-column.tsx";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ListHead } from "../../ui/list-head.tsx";
import { usePeriodText } from "../../ui/period.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { EcpmForm } from "./ecpm-form.tsx";
import { ECPM_VIEWS, ECPMS } from "./ecpm-query.ts";
import { texts } from "./ecpm-texts.ts";

type Doing = { kind: "create" } | { kind: "edit" | "remove"; ecpm: ShownEcpm };

/** What ad units are estimated to earn. */
export function Ecpms() {
  const text = useTexts(texts);
  const [doing, setDoing] = useState<Doing>();
  const ecpms = useAppQuery<EcpmList>(ECPMS);
  const close = () => setDoing(undefined);
  return (
    <>
      <ListHead needs="operate" about={text.about} add={text.newEcpm} onAdd={() => setDoing({ kind: "create" })} />
      <QueryView query={ecpms}>{(data) => <EcpmTable ecpms={data.ecpms} onDo={setDoing} />}</QueryView>
      {doing?.kind === "create" && <EcpmForm onClose={close} />}
      {doing?.kind === "edit" && <EcpmForm ecpm={doing.ecpm} onClose={close} />}
      {doing?.kind === "remove" && <RemoveDialog ecpm={doing.ecpm} onClose={close} />}
    </>
  );
}

function EcpmTable({ ecpms, onDo }: { ecpms: readonly ShownEcpm[]; onDo: (doing: Doing) => void }) {
  const text = useTexts(texts);
  const { currency } = useApp();
  const period = usePeriodText();
  const { columns: titles } = text;
  const actions = useActionColumn<ShownEcpm>({
    needs: "operate",
    onEdit: (ecpm) => onDo({ kind: "edit", ecpm }),
    onRemove: (ecpm) => onDo({ kind: "remove", ecpm }),
  });
  const columns: Column<ShownEcpm>[] = [
    { name: "unit", title: titles.unit, cell: ({ ad_unit_id }) => <strong>{ad_unit_id}</strong> },
    { name: "period", title: titles.period, cell: period },
    { name: "ecpm", kind: "number", title: titles.ecpm(currency), cell: ({ ecpm }) => String(ecpm) },
    ...actions,
  ];
  return (
    <DataTable
      label={text.table}
      columns={columns}
      rows={ecpms}
      keyOf={({ ad_unit_id, start_date }) => `${ad_unit_id} ${start_date}`}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    />
  );
}

function RemoveDialog({ ecpm, onClose }: { ecpm: ShownEcpm; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const period = usePeriodText();
  const { ad_unit_id, start_date } = ecpm;
  return (
    <ChangeDialog
      title={text.removeTitle}
      submit={{ label: text.remove, look: "danger" }}
      ask={() => post<object>("ecpms/remove", { app_id: app.app_id, ad_unit_id, start_date })}
      stale={ECPM_VIEWS}
      said={() => text.removed}
      onClose={onClose}
    >
      <p>{text.removeAbout(ad_unit_id, period(ecpm))}</p>
    </ChangeDialog>
  );
}
