import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import type {
  TimelineItem,
  TimelineKind,
  Timeline as TimelinePage,
  UserView,
} from "../../../../src/contract/admin/admin-user.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { TextField } from "../../ui/field.tsx";
import { Progress } from "../../ui/progress.tsx";
import { useUrlState } from "../../url-state.ts";
import { KindIcon } from "./kind-icon.tsx";
import { texts } from "./texts.ts";
import { TimelineEntry } from "./timeline-entry.tsx";

const KINDS: readonly TimelineKind[] = ["event", "order", "refund", "postback", "touch", "registration", "return"];
const PAGE_SIZE = 50;

/** Everything that happened to the user, newest first, page by page. */
export function Timeline({ clientId, user }: { clientId: string; user: UserView }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [{ kinds, event }, change] = useUrlState({ kinds: "", event: "" });
  const query = useInfiniteQuery({
    queryKey: ["timeline", app_id, clientId, kinds, event],
    queryFn: ({ pageParam, signal }) =>
      get<TimelinePage>(
        "user/timeline",
        { app_id, client_id: clientId, kinds, event, before: pageParam, limit: PAGE_SIZE },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const items = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <div className="stack">
      <div className="row apart timeline-tools">
        <KindPicker chosen={kinds} onChoose={(next) => change({ kinds: next })} isOff={event !== ""} />
        <EventName key={event} name={event} onChange={(name) => change({ event: name })} />
      </div>
      {query.isPending && <Progress />}
      {query.isError && <Failure error={query.error} onRetry={() => query.refetch()} />}
      {query.isSuccess && items.length === 0 && (
        <Empty title={text.nothing}>
          <p>{text.nothingHelp}</p>
        </Empty>
      )}
      {daysOf(items).map(({ day, items: ofDay }) => (
        <section key={day} className="timeline-day" aria-label={day}>
          <h3>{day}</h3>
          <ol className="boxed-list">
            {ofDay.map((item) => (
              <TimelineEntry key={keyOf(item)} item={item} currency={user.currency} />
            ))}
          </ol>
        </section>
      ))}
      <div className="row">
        {query.hasNextPage && (
          <Button onClick={() => void query.fetchNextPage()} disabled={query.isFetchingNextPage}>
            {query.isFetchingNextPage ? text.moreBusy : text.more}
          </Button>
        )}
        <span className="soft small">
          {items.length > 0 && !query.hasNextPage && `${text.theEnd} `}
          {text.timesIn(user.time_zone)}
        </span>
      </div>
    </div>
  );
}

type KindPickerProps = { chosen: string; onChoose: (kinds: string) => void; isOff: boolean };

function KindPicker({ chosen, onChoose, isOff }: KindPickerProps) {
  const text = useTexts(texts);
  const kinds = chosen.split(",").filter(Boolean);
  const toggled = (kind: TimelineKind) =>
    KINDS.filter((one) => (one === kind ? !kinds.includes(one) : kinds.includes(one))).join();
  return (
    <fieldset className="kind-picker" disabled={isOff}>
      <legend className="visually-hidden">{text.show}</legend>
      <button type="button" aria-pressed={kinds.length === 0} onClick={() => onChoose("")}>
        {text.all}
      </button>
      {KINDS.map((kind) => (
        <button key={kind} type="button" aria-pressed={kinds.includes(kind)} onClick={() => onChoose(toggled(kind))}>
          <KindIcon kind={kind} />
          {text.kinds[kind]}
        </button>
      ))}
    </fieldset>
  );
}

function EventName({ name, onChange }: { name: string; onChange: (name: string) => void }) {
  const text = useTexts(texts);
  const [typed, setTyped] = useState(name);
  return (
    <form
      className="event-name"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(typed.trim());
      }}
    >
      <TextField
        type="search"
        label={text.eventName}
        placeholder="$PayEvent"
        value={typed}
        onChange={(value) => {
          setTyped(value);
          if (value === "") onChange("");
        }}
      />
    </form>
  );
}

/** The identity of an item: each kind has its own key. */
function keyOf(item: TimelineItem): string {
  switch (item.kind) {
    case "event":
      return item.id;
    case "order":
      return `order ${item.trace_id}`;
    case "refund":
      return `refund ${item.refund_id}`;
    case "postback":
      return `postback ${item.event_type} ${item.subject}`;
    case "touch":
      return item.touch_id;
    case "registration":
    case "return":
      return `${item.kind} ${item.number}`;
  }
}

function daysOf(items: readonly TimelineItem[]): { day: string; items: TimelineItem[] }[] {
  const days: { day: string; items: TimelineItem[] }[] = [];
  for (const item of items) {
    const day = item.at.slice(0, 10);
    const last = days.at(-1);
    if (last?.day === day) last.items.push(item);
    else days.push({ day, items: [item] });
  }
  return days;
}
