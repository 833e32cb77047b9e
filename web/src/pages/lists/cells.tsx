import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Format } from "../../format.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Clip } from "../../ui/clip.tsx";
import type { Column } from "../../ui/data-table.tsx";
import type { ListColumn } from "./list-state.ts";
import type { ListTexts } from "./texts.ts";
import type { ValueNames } from "./value-names.ts";

export type ListRecord = Readonly<Record<string, unknown>>;

type Words = {
  text: ListTexts;
  format: Format;
  titleOf: (name: string) => string;
  userAddress: (id: string) => string;
  names: ValueNames;
};

const NUMBERS: readonly ListColumn["cell"][] = ["number", "cents", "money"];

/** The table column for a column of the interface. */
export function tableColumn(column: ListColumn, words: Words): Column<ListRecord> {
  const isNumber = NUMBERS.includes(column.cell);
  return {
    name: column.name,
    title: words.titleOf(column.name),
    kind: isNumber ? "number" : "text",
    sortable: column.sortable,
    cell: (record) => cellOf(column, fieldOf(record, column.name), words),
  };
}

function fieldOf(record: ListRecord, name: string): unknown {
  const [outer = "", inner] = name.split(".");
  const value = record[outer];
  return inner === undefined ? value : (value as ListRecord | null)?.[inner];
}

/** The several ways in which the interface writes "no value". */
const NOTHING: readonly unknown[] = ["", "-", "empty", null, undefined];

function cellOf({ name, cell }: ListColumn, value: unknown, words: Words): ReactNode {
  const { text, format } = words;
  if (NOTHING.includes(value)) return <span className="soft">{text.none}</span>;
  const special = SPECIAL[name]?.(String(value), words);
  if (special !== undefined) return special;
  switch (cell) {
    case "number":
      return format.number(value as number);
    case "cents":
      return format.cents(value as number);
    case "money":
      return moneyText(value as number, format);
    case "day":
      return String(value).replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
    case "time":
      return <span className="nowrap">{String(value)}</span>;
    case "flag":
    case "bit":
      return value === true || value === 1 ? text.yes : text.no;
    default:
      return <Clip text={typeof value === "string" ? value : JSON.stringify(value)} />;
  }
}

/** Amounts below one cent keep their digits: ads earn fractions of a cent. */
function moneyText(value: number, format: Format): string {
  return value !== 0 && Math.abs(value) < 0.01 ? String(value) : format.number(value);
}

const TONES: Readonly<Record<string, Tone>> = { succeeded: "good", failed: "bad" };
const STATUS_WORDS = ["not postbacked", "succeeded", "failed", "skipped"];

const SPECIAL: Readonly<Record<string, (value: string, words: Words) => ReactNode>> = {
  ClientID: (id, { userAddress }) => (
    <Link className="mono nowrap" href={userAddress(id)}>
      {id}
    </Link>
  ),
  Version: (version) => version,
  TraceID: (id) => <span className="mono nowrap">{id}</span>,
  AdPlatform: (name, { names }) => (
    <span className={name === "natural" ? "soft nowrap" : "nowrap"}>{names.platform(name)}</span>
  ),
  TurboPromotedObjectID: (id, { names }) => <Clip text={names.campaign(id)} hint={id} />,
  Status: (status, { text }) => (
    <Badge tone={TONES[status] ?? "plain"}>{text.statuses[STATUS_WORDS.indexOf(status)] ?? status}</Badge>
  ),
};
