import { useMutation, useQuery } from "@tanstack/react-query";
import type { SessionList, ShownSession } from "../../../../src/contract/setting/session.ts";
import { get, post } from "../../api.ts";
import { useChange } from "../../change.ts";
import { useFormat } from "../../format.ts";
import { startOver } from "../../session.tsx";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Failure } from "../../ui/failure.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { SESSIONS_KEY } from "./account-query.ts";
import { browserName } from "./browser-name.ts";
import { sessionTexts } from "./session-texts.ts";

/** Where the person is signed in. */
export function SessionsTab() {
  const text = useTexts(sessionTexts);
  const sessions = useQuery({
    queryKey: SESSIONS_KEY,
    queryFn: ({ signal }) => get<SessionList>("session/list", {}, signal),
  });
  const leaving = useMutation({
    mutationFn: () => post("session/sign-out-everywhere", {}),
    onSuccess: () => startOver(null),
  });
  return (
    <>
      <div className="row apart">
        <p className="soft grow">{text.about}</p>
        <Button look="danger" disabled={leaving.isPending} onClick={() => leaving.mutate()}>
          {text.everywhere}
        </Button>
      </div>
      {leaving.error && <Failure error={leaving.error} />}
      <QueryView query={sessions}>{(found) => <SessionTable sessions={found.sessions} />}</QueryView>
    </>
  );
}

function SessionTable({ sessions }: { sessions: readonly ShownSession[] }) {
  const text = useTexts(sessionTexts);
  const format = useFormat();
  const columns: Column<ShownSession>[] = [
    {
      name: "device",
      title: text.columns.device,
      cell: ({ agent, is_current }) => (
        <span className="row" title={agent}>
          <strong>{browserName(agent) ?? text.unknown}</strong>
          {is_current && <Badge tone="accent">{text.current}</Badge>}
        </span>
      ),
    },
    { name: "address", title: text.columns.address, cell: ({ address }) => <span className="mono">{address}</span> },
    { name: "method", title: text.columns.method, cell: ({ method }) => text.methods[method] },
    { name: "created", title: text.columns.created, cell: ({ created_at_ms }) => format.instant(created_at_ms) },
    { name: "seen", title: text.columns.seen, cell: ({ seen_at_ms }) => format.instant(seen_at_ms) },
    {
      name: "actions",
      title: text.columns.actions,
      cell: (session) => !session.is_current && <EndButton session={session} />,
    },
  ];
  return <DataTable label={text.about} columns={columns} rows={sessions} keyOf={({ id }) => id} />;
}

function EndButton({ session: { id } }: { session: ShownSession }) {
  const text = useTexts(sessionTexts);
  const ending = useChange({
    ask: () => post("session/end", { id }),
    stale: [SESSIONS_KEY],
    said: () => text.ended,
    onDone: () => {},
  });
  return (
    <>
      <Button size="small" disabled={ending.isPending} onClick={() => ending.mutate()}>
        {text.end}
      </Button>
      {ending.error && <Failure error={ending.error} />}
    </>
  );
}
