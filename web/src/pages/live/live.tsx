import { useState } from "react";
import { Link } from "wouter";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { SelectField } from "../../ui/field.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { useUrlState } from "../../url-state.ts";
import { CallRow } from "./call-row.tsx";
import { DoctorPanel } from "./doctor-panel.tsx";
import { type LineState, type LiveStream, useLiveStream } from "./live-stream.ts";
import { texts } from "./texts.ts";
import "./live.css";

const TONES: Readonly<Record<LineState, "good" | "warn" | "bad">> = { open: "good", connecting: "warn", ended: "bad" };

export function LivePage() {
  const text = useTexts(texts);
  const { app_id: appId } = useApp();
  const [filter, setFilter] = useUrlState({ client: "", event: "", scope: "all" });
  const [isPaused, setPaused] = useState(false);
  const stream = useLiveStream({ appId, ...filter }, isPaused);
  return (
    <>
      <PageHead title={text.title} about={text.about}>
        <Badge tone={TONES[stream.state]}>{text.states[stream.state]}</Badge>
        {stream.state === "ended" && <Button onClick={stream.reconnect}>{text.reconnect}</Button>}
        <Button look={isPaused ? "main" : "plain"} aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? text.resume(stream.held) : text.pause}
        </Button>
        <Button onClick={stream.clear} disabled={stream.calls.length === 0}>
          {text.clear}
        </Button>
      </PageHead>
      <div className="live-columns">
        <section className="stack tight" aria-label={text.calls}>
          <Filters filter={filter} onChange={setFilter} />
          <Calls stream={stream} isFiltered={filter.client !== "" || filter.event !== "" || filter.scope !== "all"} />
        </section>
        <DoctorPanel appId={appId} />
      </div>
    </>
  );
}

type Filter = { client: string; event: string; scope: string };

function Filters({ filter, onChange }: { filter: Filter; onChange: (changes: Partial<Filter>) => void }) {
  const text = useTexts(texts);
  const scopes = [
    { value: "all", label: text.scopeAll },
    { value: "debug", label: text.scopeDebug },
  ];
  return (
    <div className="row fields live-filters">
      <SelectField label={text.scope} value={filter.scope} choices={scopes} onChange={(scope) => onChange({ scope })} />
      <SearchField label={text.client} value={filter.client} onSearch={(client) => onChange({ client })} />
      <SearchField
        label={text.event}
        value={filter.event}
        placeholder={text.eventHint}
        onSearch={(event) => onChange({ event })}
      />
    </div>
  );
}

function Calls({ stream, isFiltered }: { stream: LiveStream; isFiltered: boolean }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  if (stream.calls.length === 0) {
    return (
      <div className="card">
        <Empty title={isFiltered ? text.noneMatch : text.none}>
          <p>{isFiltered ? text.noneMatchHelp : text.noneHelp}</p>
          {!isFiltered && <Link href="/start">{text.start}</Link>}
        </Empty>
      </div>
    );
  }
  return (
    <>
      {stream.missed > 0 && <p className="notice small">{text.missed(number(stream.missed))}</p>}
      <ol className="boxed-list calls">
        {stream.calls.map((call) => (
          <li key={call.id}>
            <CallRow call={call} />
          </li>
        ))}
      </ol>
    </>
  );
}
