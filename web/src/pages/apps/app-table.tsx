import type { ShownApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { allow, grantsFor, useGrants } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-block.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { texts } from "./texts.ts";

/** The dialog that is open, and for which app. */
export type Doing = { what: "edit" | "shares" | "secrets" | "switch"; appId: number };

type AppTableProps = { apps: readonly ShownApp[]; onDo: (doing: Doing) => void };

export function AppTable({ apps, onDo }: AppTableProps) {
  const text = useTexts(texts);
  const grants = useGrants();
  const mayChange = allow(grants, "setting");
  const columns = useColumns();
  const cell = (app: ShownApp) => allow(grantsFor(grants, app.app_id), "setting") && <Actions app={app} onDo={onDo} />;
  const actions: Column<ShownApp>[] = mayChange ? [{ name: "actions", title: text.columns.actions, cell }] : [];
  const empty = (
    <Empty title={text.none}>
      <p>{mayChange ? text.noneHelp : text.noneHelpAnalyst}</p>
    </Empty>
  );
  return (
    <DataTable
      label={text.title}
      columns={[...columns, ...actions]}
      rows={apps}
      keyOf={({ app_id }) => app_id}
      empty={empty}
    />
  );
}

function useColumns(): Column<ShownApp>[] {
  const text = useTexts(texts);
  const format = useFormat();
  return [
    {
      name: "name",
      title: text.columns.name,
      cell: ({ name, app_id }) => (
        <>
          <strong>{name}</strong>
          <div className="soft small mono">{app_id}</div>
        </>
      ),
    },
    {
      name: "state",
      title: text.columns.state,
      cell: ({ enabled }) => <Badge tone={enabled ? "good" : "bad"}>{enabled ? text.enabled : text.disabled}</Badge>,
    },
    {
      name: "accessToken",
      title: text.columns.accessToken,
      cell: ({ access_token }) =>
        access_token === "" ? null : (
          <span className="row one-line">
            <code>{access_token}</code>
            <CopyButton value={access_token} />
          </span>
        ),
    },
    {
      name: "settings",
      title: text.columns.settings,
      cell: ({ time_zone, currency, metadata }) => (
        <>
          <div>{time_zone}</div>
          <div className="soft small">
            {currency} · {text.modes[metadata]}
          </div>
        </>
      ),
    },
    {
      name: "created",
      title: text.columns.created,
      cell: ({ created_at_ms }) => <span className="made">{format.instant(created_at_ms)}</span>,
    },
  ];
}

function Actions({ app: { app_id, enabled }, onDo }: { app: ShownApp; onDo: AppTableProps["onDo"] }) {
  const text = useTexts(texts);
  return (
    <span className="row one-line">
      <Button size="small" onClick={() => onDo({ what: "edit", appId: app_id })}>
        {text.edit}
      </Button>
      <Button size="small" onClick={() => onDo({ what: "shares", appId: app_id })}>
        {text.shares}
      </Button>
      <Button size="small" onClick={() => onDo({ what: "secrets", appId: app_id })}>
        {text.secrets}
      </Button>
      <Button size="small" look={enabled ? "danger" : "plain"} onClick={() => onDo({ what: "switch", appId: app_id })}>
        {enabled ? text.disable : text.enable}
      </Button>
    </span>
  );
}
