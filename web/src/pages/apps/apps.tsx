import { useState } from "react";
import { useLocation } from "wouter";
import { type ShownApp, useApps, useChosenApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import "./apps.css";
import { AppTable, type Doing } from "./app-table.tsx";
import { EditAppDialog } from "./edit-app.tsx";
import { NewAppDialog } from "./new-app.tsx";
import { SecretsDialog } from "./secrets.tsx";
import { SharesDialog } from "./shares.tsx";
import { SwitchAppDialog } from "./switch-app.tsx";
import { texts } from "./texts.ts";

export function AppsPage() {
  const text = useTexts(texts);
  const apps = useApps();
  const mayChange = useMay("installation");
  const { choose } = useChosenApp();
  const [, navigate] = useLocation();
  const [doing, setDoing] = useState<Doing | { what: "create" }>();
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

function AppDialog({ what, ...rest }: { what: Doing["what"]; app: ShownApp; onClose: () => void }) {
  switch (what) {
    case "edit":
      return <EditAppDialog {...rest} />;
    case "shares":
      return <SharesDialog {...rest} />;
    case "secrets":
      return <SecretsDialog {...rest} />;
    case "switch":
      return <SwitchAppDialog {...rest} />;
  }
}
