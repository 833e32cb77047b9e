import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { DeveloperList, ShownDeveloper } from "../../../../src/contract/setting/developer.ts";
import { get } from "../../api.ts";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { DecideDialog, type Decision } from "./decide.tsx";
import { DeveloperForm } from "./developer-form.tsx";
import { DEVELOPERS_KEY, useGrant } from "./grant.ts";
import { NewKeyDialog } from "./key.tsx";
import { texts } from "./texts.ts";

type Doing =
  | { what: "request" }
  | { what: "edit" | "new_key"; developer: ShownDeveloper }
  | { what: "decide"; developer: ShownDeveloper; decision: Decision };

const TONES: Readonly<Record<ShownDeveloper["state"], Tone>> = {
  requested: "warn",
  approved: "good",
  refused: "bad",
  disabled: "plain",
};

export function DevelopersPage() {
  const text = useTexts(texts);
  const mayChange = useMay("installation");
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  const developers = useQuery({
    queryKey: DEVELOPERS_KEY,
    queryFn: ({ signal }) => get<DeveloperList>("developers", {}, signal),
  });
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        {mayChange && (
          <Button look="main" onClick={() => setDoing({ what: "request" })}>
            {text.request}
          </Button>
        )}
      </PageHead>
      <QueryView query={developers}>
        {({ developers: all }) => <DeveloperTable developers={inOrder(all)} onDo={setDoing} />}
      </QueryView>
      {doing?.what === "request" && <DeveloperForm onClose={close} />}
      {doing?.what === "edit" && <DeveloperForm developer={doing.developer} onClose={close} />}
      {doing?.what === "new_key" && <NewKeyDialog developer={doing.developer} onClose={close} />}
      {doing?.what === "decide" && (
        <DecideDialog developer={doing.developer} decision={doing.decision} onClose={close} />
      )}
    </>
  );
}

/** Applications that wait for a decision first, then the newest. */
function inOrder(developers: readonly ShownDeveloper[]): ShownDeveloper[] {
  const rank = ({ state }: ShownDeveloper) => (state === "requested" ? 0 : 1);
  return [...developers].sort((left, right) => rank(left) - rank(right) || right.id - left.id);
}

type TableProps = { developers: readonly ShownDeveloper[]; onDo: (doing: Doing) => void };

function DeveloperTable({ developers, onDo }: TableProps) {
  const text = useTexts(texts);
  const format = useFormat();
  const mayChange = useMay("installation");
  const { appsText, rateText } = useGrant();
  const columns: Column<ShownDeveloper>[] = [
    {
      name: "name",
      title: text.columns.name,
      cell: ({ name, purpose }) => (
        <>
          <strong>{name}</strong>
          {purpose && <div className="soft small">{purpose}</div>}
        </>
      ),
    },
    {
      name: "state",
      title: text.columns.state,
      cell: ({ state, reason }) => (
        <>
          <Badge tone={TONES[state]}>{text.states[state]}</Badge>
          {reason && <div className="soft small">{reason}</div>}
        </>
      ),
    },
    { name: "apps", title: text.columns.apps, cell: appsText },
    { name: "rate", title: text.columns.rate, cell: rateText },
    { name: "requested", title: text.columns.requested, cell: ({ created_at_ms }) => format.instant(created_at_ms) },
    {
      name: "decided",
      title: text.columns.decided,
      cell: ({ decided_at_ms }) => (decided_at_ms === null ? text.never : format.instant(decided_at_ms)),
    },
  ];
  if (mayChange) {
    const cell = (developer: ShownDeveloper) => <Actions developer={developer} onDo={onDo} />;
    columns.push({ name: "actions", title: text.columns.actions, cell });
  }
  const empty = (
    <Empty title={text.none}>
      <p>{mayChange ? text.noneHelp : text.noneHelpAnalyst}</p>
    </Empty>
  );
  return <DataTable label={text.title} columns={columns} rows={developers} keyOf={({ id }) => id} empty={empty} />;
}

function Actions({ developer, onDo }: { developer: ShownDeveloper; onDo: (doing: Doing) => void }) {
  const text = useTexts(texts);
  const { state } = developer;
  const decide = (decision: Decision) => onDo({ what: "decide", developer, decision });
  return (
    <span className="row">
      {state !== "approved" && (
        <Button size="small" look={state === "requested" ? "main" : "plain"} onClick={() => decide("approved")}>
          {text.approve}
        </Button>
      )}
      {state === "requested" && (
        <Button size="small" onClick={() => decide("refused")}>
          {text.refuse}
        </Button>
      )}
      <Button size="small" onClick={() => onDo({ what: "edit", developer })}>
        {text.edit}
      </Button>
      {state === "approved" && (
        <>
          <Button size="small" onClick={() => onDo({ what: "new_key", developer })}>
            {text.newKey}
          </Button>
          <Button size="small" look="danger" onClick={() => decide("disabled")}>
            {text.disable}
          </Button>
        </>
      )}
    </span>
  );
}
