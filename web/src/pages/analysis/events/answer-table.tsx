import { useState } from "react";
import type { EventsCell, EventsLine } from "../../../../../src/contract/analysis/events.ts";
import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { type Column, DataTable } from "../../../ui/data-table.tsx";
import type { AskedEvents } from "../answer/answer-query.ts";
import { type Opened, UsersDialog } from "../answer/users-dialog.tsx";
import { letterOf } from "../state.ts";
import { texts } from "../texts.ts";
import type { LineNames } from "./line-names.ts";

const BUCKETS_MAX = 62;

type AnswerTableProps = { asked: AskedEvents; names: LineNames };

/** A row for each line, a column for each bucket. A number of a series opens to its users; one of a formula has none. */
export function AnswerTable({ asked, names }: AnswerTableProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const [opened, setOpened] = useState<Opened>();
  const { buckets, lines } = asked.answer;
  const skipped = Math.max(0, buckets.length - BUCKETS_MAX);
  const column = (name: string, at: number | undefined): Column<EventsLine> => ({
    name: name === "" ? "total" : name,
    title: name === "" ? text.total : name,
    kind: "number",
    cell: (line) => <Values asked={asked} names={names} line={line} at={at} onOpen={setOpened} />,
  });
  return (
    <>
      <DataTable
        label={text.table}
        columns={[
          { name: "line", title: text.line, cell: (line) => <span className="nowrap">{names.subject(line)}</span> },
          ...names.fields.map((title, at) => ({
            name: `split-${at}`,
            title,
            cell: (line: EventsLine) => names.group(line)[at],
          })),
          column("", undefined),
          ...buckets.slice(skipped).map((bucket, at) => column(bucket, at + skipped)),
        ]}
        rows={lines}
        keyOf={(line) => `${line.name}\u0000${line.is_other}\u0000${line.group.join("\u0000")}`}
      />
      {skipped > 0 && <span className="soft small">{text.firstBuckets(BUCKETS_MAX, number(buckets.length))}</span>}
      {opened && <UsersDialog opened={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

type ValuesProps = AnswerTableProps & {
  line: EventsLine;
  /** The index of the bucket; undefined: the whole range. */
  at: number | undefined;
  onOpen: (opened: Opened) => void;
};

/** A value, and below it that of the earlier range with the change since. */
function Values({ asked, names, line, at, onOpen }: ValuesProps) {
  const text = useTexts(texts);
  const shownOf = ({ total, values }: Pick<EventsLine, "total" | "values">) =>
    at === undefined ? total : (values[at] ?? null);
  const value = shownOf(line);
  const { question, answer } = asked;
  const open = (isEarlier: boolean) => {
    const cell = cellOf(asked, line, { at, isEarlier });
    const bucket = at === undefined ? undefined : (isEarlier ? answer.earlier_buckets : answer.buckets)?.[at];
    return (
      cell &&
      (() =>
        onOpen({ name: "events", question, cell, title: [names.full(line), ...(bucket ? [bucket] : [])].join(" · ") }))
    );
  };
  if (!line.earlier) return <Value value={value} name={names.full(line)} onOpen={open(false)} />;
  const before = shownOf(line.earlier);
  const bucket = at === undefined ? undefined : answer.earlier_buckets?.[at];
  return (
    <span className="compared">
      <Value value={value} name={names.full(line)} onOpen={open(false)} />
      <span className="soft small" title={bucket ? text.earlierIn(bucket) : text.earlier}>
        <Value value={before} name={`${names.full(line)}, ${text.earlier}`} onOpen={open(true)} />
        <Change value={value} before={before} />
      </span>
    </span>
  );
}

function Value({ value, name, onOpen }: { value: number | null; name: string; onOpen: (() => void) | undefined }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  if (value === null) return <>–</>;
  const shown = number(value);
  if (!onOpen || value === 0) return <>{shown}</>;
  return (
    <button type="button" className="number-button" aria-label={text.open(name, shown)} onClick={onOpen}>
      {shown}
    </button>
  );
}

function Change({ value, before }: { value: number | null; before: number | null }) {
  const { percent } = useFormat();
  if (value === null || !before) return null;
  const change = value / before - 1;
  return <> {`${change < 0 ? "▼" : "▲"} ${percent(Math.abs(change))}`}</>;
}

/** The number as the server names it, or undefined if it is computed by a formula. */
function cellOf(
  { question, answer }: AskedEvents,
  line: EventsLine,
  { at, isEarlier }: { at: number | undefined; isEarlier: boolean },
): EventsCell | undefined {
  const series = question.series.findIndex((_, index) => letterOf(index) === line.name);
  if (series < 0) return undefined;
  const bucket = at === undefined ? undefined : (isEarlier ? answer.earlier_buckets : answer.buckets)?.[at];
  return {
    series,
    ...(bucket !== undefined && { bucket }),
    ...(line.is_other && { is_other: true }),
    ...(!line.is_other && line.group.length > 0 && { group: line.group }),
    ...(isEarlier && { is_earlier: true }),
  };
}
