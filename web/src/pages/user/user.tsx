import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { UserView } from "../../../../src/contract/admin/admin-user.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useUrlState, useUrlTab } from "../../url-state.ts";
import { listAddress } from "../lists/list-state.ts";
import { EraseDialog } from "./erase.tsx";
import { Profile } from "./profile.tsx";
import { Source } from "./source.tsx";
import { texts } from "./texts.ts";
import { Timeline } from "./timeline.tsx";
import { UserHead } from "./user-head.tsx";
import "./user.css";

const TABS = ["timeline", "source", "profile"] as const;

export function UserPage() {
  const text = useTexts(texts);
  const [{ client }] = useUrlState({ client: "" });
  if (client === "") {
    return (
      <Empty title={text.noClient}>
        <p>{text.noClientHelp}</p>
      </Empty>
    );
  }
  // The key resets the page, so that no state of one user is left on the page of another.
  return <OneUser key={client} clientId={client} />;
}

function OneUser({ clientId }: { clientId: string }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [tab, choose] = useUrlTab(TABS);
  const query = useQuery({
    queryKey: ["user", app_id, clientId],
    queryFn: ({ signal }) => get<UserView>("user", { app_id, client_id: clientId }, signal),
  });
  return (
    <QueryView query={query}>
      {(user) => (
        <>
          <UserHead user={user}>
            <Actions clientId={clientId} />
          </UserHead>
          <Tabs tabs={TABS.map((name) => ({ name, title: text.tabs[name] }))} chosen={tab} onChoose={choose}>
            {tab === "source" && <Source clientId={clientId} user={user} />}
            {tab === "profile" && <Profile user={user} />}
            {tab === "timeline" && <Timeline clientId={clientId} user={user} />}
          </Tabs>
        </>
      )}
    </QueryView>
  );
}

function Actions({ clientId }: { clientId: string }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const mayChange = useMay("setting");
  const [isErasing, setErasing] = useState(false);
  return (
    <>
      <Link className="button plain" href={`/users?app=${app_id}`}>
        {text.allUsers}
      </Link>
      <Link className="button plain" href={listAddress("orders", app_id, { user: { client_id_list: [clientId] } })}>
        {text.orders}
      </Link>
      {mayChange && (
        <Button look="danger" onClick={() => setErasing(true)}>
          {text.erase}
        </Button>
      )}
      {isErasing && <EraseDialog appId={app_id} clientId={clientId} onClose={() => setErasing(false)} />}
    </>
  );
}
