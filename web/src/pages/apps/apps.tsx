import { useState } from "react";
import { useLocation } from "wouter";
import { type ShownApp, useApps, useChosenApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useMayChange } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-block.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import "./apps.css";
import { EditAppDialog } from "./edit-app.tsx";
import { NewAppDialog } from "./new-app.tsx";
import { SecretsDialog } from "./secrets.tsx";
import { SwitchAppDialog } from "./switch-app.tsx";
import { texts } from "./texts.ts";

type Doing = { what: "edit" | "secrets" | "switch"; appId: number } | { what: "create" };

export function AppsPage() {
  const text = useTexts(texts);
  const apps = useApps();
  const mayChange = useMayChange();
  const { choose } = useChosenApp();
  const [, navigate] = useLocation();
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  const newButton = mayChange && (
    <Button look="main" onClick={() => setDoing({ what: "create" })}>
      {text.newApp}
    </Button>
  );
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        {newButton}
      </PageHead>
      <QueryView query={apps}>
        {({ apps: all }) => (
          <>
            <AppTable apps={all} onDo={setDoing} />
            {doing && doing.what !== "create" && (
              <AppDialog what={doing.what} app={all.find(({ app_id }) => app_id === doing.appId)!} onClose={close} />
            )}
          </>
        )}
      </QueryView>
      {doing?.what === "create" && (
        <NewAppDialog
          onClose={close}
          onMade={(made) => {
            close();
            choose(made.app_id);
            navigate(`/start?app=${made.app_id}`);
          }}
        />
      )}
    </>
  );
}

function AppDialog({ what, ...rest }: { what: "edit" | "secrets" | "switch"; app: ShownApp; onClose: () => void }) {
  switch (what) {
    case "edit":
      return <EditAppDialog {...rest} />;
    case "secrets":
      return <SecretsDialog {...rest} />;
    case "switch":
      return <SwitchAppDialog {...rest} />;
  }
}

function AppTable({ apps, onDo }: { apps: readonly ShownApp[]; onDo: (doing: Doing) => void }) {
  const text = useTexts(texts);
  const format = useFormat();
  const mayChange = useMayChange();
  const columns: Column<ShownApp>[] = [
    {
      name: "name",
      title: text.columns.name,
      cell: ({ name, app_id }) => (
        <div>
          <strong>{name}</strong>
          <div className="soft small mono">{app_id}</div>
        </div>
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
      cell: ({ access_token }) => (
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
  if (mayChange) {
    columns.push({
      name: "actions",
      title: text.columns.actions,
      cell: ({ app_id, enabled }) => (
        <span className="row one-line">
          <Button size="small" onClick={() => onDo({ what: "edit", appId: app_id })}>
            {text.edit}
          </Button>
          <Button size="small" onClick={() => onDo({ what: "secrets", appId: app_id })}>
            {text.secrets}
          </Button>
          <Button
            size="small"
            look={enabled ? "danger" : "plain"}
            onClick={() => onDo({ what: "switch", appId: app_id })}
          >
            {enabled ? text.disable : text.enable}
          </Button>
        </span>
      ),
    });
  }
  const empty = (
    <Empty title={text.none}>
      <p>{mayChange ? text.noneHelp : text.noneHelpAnalyst}</p>
    </Empty>
  );
  return <DataTable label={text.title} columns={columns} rows={apps} keyOf={({ app_id }) => app_id} empty={empty} />;
}
