import { Link } from "wouter";
import { Freshness } from "../../../analysis/freshness.tsx";
import { saveCsv } from "../../../analysis/save-csv.ts";
import { useApp } from "../../../chosen-app.tsx";
import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { Button } from "../../../ui/button.tsx";
import { TellDialog } from "../../../ui/dialog.tsx";
import { QueryView } from "../../../ui/query-view.tsx";
import { userAddress } from "../../lists/user-address.ts";
import { texts } from "../texts.ts";
import { type Behind, type NamedCell, useUsersBehind } from "./answer-query.ts";

/** A number whose users are shown. */
export type Opened = NamedCell & { title: string };

const LINKS_MAX = 500;

export function UsersDialog({ opened, onClose }: { opened: Opened; onClose: () => void }) {
  const text = useTexts(texts);
  const query = useUsersBehind(opened);
  return (
    <TellDialog title={text.users} width="wide" onClose={onClose}>
      <p className="soft">{opened.title}</p>
      <QueryView query={query}>{(behind) => <Users behind={behind} />}</QueryView>
    </TellDialog>
  );
}

function Users({ behind }: { behind: Behind }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const { app_id } = useApp();
  const { client_ids, count } = behind;
  if (count === 0) return <p>{text.noUsers}</p>;
  const shown = client_ids.slice(0, LINKS_MAX);
  return (
    <>
      <div className="row apart">
        <p>
          <b>{text.usersCount(number(count))}</b> {count > shown.length && text.usersShown(number(shown.length))}
        </p>
        <Button onClick={() => saveCsv([["client_id"], ...client_ids.map((id) => [id])], `users-${app_id}.csv`)}>
          {text.usersCsv}
        </Button>
      </div>
      <ul className="client-ids">
        {shown.map((clientId) => (
          <li key={clientId}>
            <Link className="mono" href={userAddress(app_id, clientId)}>
              {clientId}
            </Link>
          </li>
        ))}
      </ul>
      <Freshness received_until={behind.received_until} took_ms={behind.took_ms} />
    </>
  );
}
