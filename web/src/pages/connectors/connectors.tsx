import { useState } from "react";
import type { ConnectorList, ShownConnector } from "../../../../src/contract/setting/connector.ts";
import { post } from "../../api.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { useActionColumn } from "../../ui/action-column.tsx";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ListHead } from "../../ui/list-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { CALLBACK } from "./connector-draft.ts";
import { ConnectorForm } from "./connector-form.tsx";
import { CONNECTOR_VIEWS, CONNECTORS } from "./connector-query.ts";
import { texts } from "./texts.ts";
import "./connectors.css";

type Doing = { kind: "create" } | { kind: "edit" | "remove"; connector: ShownConnector };

/** Connectors that the app has declared for platforms that have none in the program. */
export function Connectors() {
  const text = useTexts(texts);
  const [doing, setDoing] = useState<Doing>();
  const connectors = useAppQuery<ConnectorList>(CONNECTORS);
  const close = () => setDoing(undefined);
  return (
    <>
      <ListHead about={text.about} add={text.add} onAdd={() => setDoing({ kind: "create" })} />
      <QueryView query={connectors}>
        {(data) => <ConnectorTable connectors={data.connectors} onDo={setDoing} />}
      </QueryView>
      {doing?.kind === "create" && <ConnectorForm onClose={close} />}
      {doing?.kind === "edit" && <ConnectorForm connector={doing.connector} onClose={close} />}
      {doing?.kind === "remove" && <RemoveDialog connector={doing.connector} onClose={close} />}
    </>
  );
}

type TableProps = { connectors: readonly ShownConnector[]; onDo: (doing: Doing) => void };

function ConnectorTable({ connectors, onDo }: TableProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const platformName = usePlatformName();
  const { columns: titles } = text;
  const actions = useActionColumn<ShownConnector>({
    onEdit: (connector) => onDo({ kind: "edit", connector }),
    onRemove: (connector) => onDo({ kind: "remove", connector }),
  });
  const columns: Column<ShownConnector>[] = [
    {
      name: "platform",
      title: titles.platform,
      cell: ({ ad_platform }) => <strong>{platformName(ad_platform)}</strong>,
    },
    { name: "address", title: titles.address, cell: (connector) => <Address connector={connector} /> },
    {
      name: "events",
      title: titles.events,
      cell: ({ declaration }) => <span className="small">{Object.keys(declaration.codes ?? {}).join(", ")}</span>,
    },
    {
      name: "accounts",
      kind: "number",
      title: titles.accounts,
      cell: ({ accounts }) => (accounts === 0 ? text.noAccount : number(accounts)),
    },
    { name: "changed", title: titles.changed, cell: ({ changed_at }) => changed_at },
    ...actions,
  ];
  return (
    <DataTable
      label={text.table}
      columns={columns}
      rows={connectors}
      keyOf={({ ad_platform }) => ad_platform}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    />
  );
}

function Address({ connector: { declaration } }: { connector: ShownConnector }) {
  const text = useTexts(texts);
  const { method = "GET", url, callback_hosts } = declaration;
  const shown = url === CALLBACK ? text.callbackAt(String(callback_hosts)) : String(url);
  return <span className="small connector-address">{`${String(method)} ${shown}`}</span>;
}

function RemoveDialog({ connector, onClose }: { connector: ShownConnector; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const platformName = usePlatformName();
  const { ad_platform } = connector;
  return (
    <ChangeDialog
      title={text.removeTitle}
      submit={{ label: text.remove, look: "danger" }}
      ask={() => post<object>("connectors/remove", { app_id: app.app_id, ad_platform })}
      stale={CONNECTOR_VIEWS}
      said={() => text.removed}
      onClose={onClose}
    >
      <p>{text.removeAbout(platformName(ad_platform))}</p>
    </ChangeDialog>
  );
}
