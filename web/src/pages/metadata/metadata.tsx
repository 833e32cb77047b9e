import { useState } from "react";
import type { ShownMetadata } from "../../../../src/contract/setting/metadata.ts";
import { useAppQuery } from "../../app-query.ts";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Pager } from "../../ui/pager.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useUrlState } from "../../url-state.ts";
import { METADATA } from "./declaring.ts";
import { EventTable } from "./event-table.tsx";
import { ModeCard } from "./mode-card.tsx";
import { NewNameDialog } from "./new-name.tsx";
import { PropertyTable } from "./property-table.tsx";
import { texts } from "./texts.ts";

const PAGE_SIZE = 50;
const STATES = ["observed", "declared", "disabled"] as const;
type State = (typeof STATES)[number];

export function MetadataPage() {
  const text = useTexts(texts);
  const mayChange = useMay("setting");
  const [isDeclaring, setDeclaring] = useState(false);
  const metadata = useAppQuery<ShownMetadata>(METADATA);
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        {mayChange && <Button onClick={() => setDeclaring(true)}>{text.declareNew}</Button>}
      </PageHead>
      <QueryView query={metadata}>
        {(known) => (
          <>
            <ModeCard metadata={known} />
            <Names metadata={known} />
          </>
        )}
      </QueryView>
      {isDeclaring && <NewNameDialog onClose={() => setDeclaring(false)} />}
    </>
  );
}

function Names({ metadata }: { metadata: ShownMetadata }) {
  const text = useTexts(texts);
  const [{ tab, state, search, page }, change] = useUrlState({ tab: "events", state: "", search: "", page: "1" });
  const isEvents = tab !== "properties";
  const all: readonly { name: string; state: State }[] = isEvents ? metadata.events : metadata.properties;
  const wanted = search.trim().toLowerCase();
  const found = [...all]
    .filter((one) => (state === "" || one.state === state) && one.name.toLowerCase().includes(wanted))
    // Names that still need a decision come first; within a state they are in order already.
    .sort((left, right) => STATES.indexOf(left.state) - STATES.indexOf(right.state));
  const at = Math.min(Math.max(1, Number(page) || 1), Math.max(1, Math.ceil(found.length / PAGE_SIZE)));
  const shown = found.slice((at - 1) * PAGE_SIZE, at * PAGE_SIZE);
  const tabs = (["events", "properties"] as const).map((name) => ({
    name,
    title: `${text.tabs[name]} · ${metadata[name].length}`,
  }));
  const choices = [
    { value: "", label: text.anyState },
    ...STATES.map((value) => ({ value, label: text.states[value] })),
  ];
  return (
    <Tabs
      tabs={tabs}
      chosen={isEvents ? "events" : "properties"}
      onChoose={(name) => change({ tab: name, page: "1", state: "" })}
    >
      <div className="row fields">
        <TextField label={text.search} value={search} onChange={(value) => change({ search: value, page: "1" })} />
        <SelectField
          label={text.state}
          value={state}
          choices={choices}
          onChange={(value) => change({ state: value, page: "1" })}
        />
      </div>
      {isEvents ? (
        <EventTable events={shown as ShownMetadata["events"]} all={metadata.events} />
      ) : (
        <PropertyTable properties={shown as ShownMetadata["properties"]} all={metadata.properties} />
      )}
      {found.length > PAGE_SIZE && (
        <Pager page={at} pageSize={PAGE_SIZE} rows={found.length} onPage={(next) => change({ page: String(next) })} />
      )}
    </Tabs>
  );
}
