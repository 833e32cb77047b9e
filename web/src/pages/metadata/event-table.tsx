import { useState } from "react";
import type { ShownEventMeta } from "../../../../src/contract/setting/metadata.ts";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { FormDialog } from "../../ui/dialog.tsx";
import { Failure } from "../../ui/failure.tsx";
import { useDeclaring } from "./declaring.ts";
import { NothingHere, StateBadge } from "./state-badge.tsx";
import { texts } from "./texts.ts";

type EventTableProps = { events: readonly ShownEventMeta[]; all: readonly ShownEventMeta[] };
type Doing = { what: "declare_all" } | { what: "disable"; name: string };

export function EventTable({ events, all }: EventTableProps) {
  const text = useTexts(texts);
  const format = useFormat();
  const mayChange = useMay("setting");
  const [doing, setDoing] = useState<Doing>();
  const observed = all.filter(({ state }) => state === "observed").map(({ name }) => name);
  const columns: Column<ShownEventMeta>[] = [
    { name: "name", title: text.columns.name, cell: ({ name }) => <code>{name}</code> },
    { name: "state", title: text.columns.state, cell: ({ state }) => <StateBadge state={state} /> },
    { name: "changed", title: text.columns.changed, cell: ({ changed_at_ms }) => format.instant(changed_at_ms) },
  ];
  if (mayChange) {
    columns.push({
      name: "actions",
      title: text.columns.actions,
      cell: (event) => <EventActions event={event} onDisable={() => setDoing({ what: "disable", name: event.name })} />,
    });
  }
  return (
    <>
      {mayChange && observed.length > 1 && (
        <div>
          <Button onClick={() => setDoing({ what: "declare_all" })}>
            {text.declareAll(format.number(observed.length))}
          </Button>
        </div>
      )}
      <DataTable
        label={text.tabs.events}
        columns={columns}
        rows={events}
        keyOf={({ name }) => name}
        empty={<NothingHere isFiltered={all.length > 0} />}
      />
      {doing?.what === "declare_all" && <DeclareAllDialog names={observed} onClose={() => setDoing(undefined)} />}
      {doing?.what === "disable" && <DisableDialog name={doing.name} onClose={() => setDoing(undefined)} />}
    </>
  );
}

function EventActions({ event, onDisable }: { event: ShownEventMeta; onDisable: () => void }) {
  const text = useTexts(texts);
  const declaring = useDeclaring(
    { kind: "events", names: [event.name], state: "declared" },
    { said: text.declared(event.name) },
  );
  return (
    <span className="row">
      {event.state !== "declared" && (
        <Button size="small" disabled={declaring.isPending} onClick={() => declaring.mutate()}>
          {event.state === "disabled" ? text.enable : text.declare}
        </Button>
      )}
      {event.state !== "disabled" && (
        <Button size="small" look="quiet" onClick={onDisable}>
          {text.disable}
        </Button>
      )}
      {declaring.error && <Failure error={declaring.error} />}
    </span>
  );
}

function DeclareAllDialog({ names, onClose }: { names: readonly string[]; onClose: () => void }) {
  const text = useTexts(texts);
  const count = useFormat().number(names.length);
  const declaring = useDeclaring(
    { kind: "events", names, state: "declared" },
    { said: text.manyDeclared(count), onDone: onClose },
  );
  return (
    <FormDialog
      title={text.declareAllTitle(count)}
      onClose={onClose}
      submit={{ label: text.declare }}
      doing={declaring}
    >
      <p>{text.declareAllText}</p>
    </FormDialog>
  );
}

function DisableDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const text = useTexts(texts);
  const disabling = useDeclaring(
    { kind: "events", names: [name], state: "disabled" },
    { said: text.disabled(name), onDone: onClose },
  );
  return (
    <FormDialog
      title={text.disableTitle(name)}
      onClose={onClose}
      submit={{ label: text.disable, look: "danger" }}
      doing={disabling}
    >
      <p className="notice warn">{text.disableText}</p>
    </FormDialog>
  );
}
