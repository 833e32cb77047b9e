import { Link } from "wouter";
import type { Postback } from "../../../../src/contract/setting/postback.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { POSTBACK_STATUS, RESENDABLE } from "../../report/postback-status.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Clip } from "../../ui/clip.tsx";
import type { Column } from "../../ui/data-table.tsx";
import { userAddress } from "../lists/user-address.ts";
import { TONES, useEventWords } from "./event-texts.ts";
import { texts } from "./texts.ts";

/** The identity of a postback within its app. */
export function keyOf({ client_id, event_type, subject }: Postback): string {
  return JSON.stringify([client_id, event_type, subject]);
}

/** Accepted postbacks are never sent again, waiting ones are sent anyway, and callbacks to own systems are sent once. */
function isResendable({ status, event_type }: Postback): boolean {
  return RESENDABLE.includes(status) && !event_type.startsWith("$");
}

type Selection = {
  selected: ReadonlySet<string>;
  toggle: (row: Postback) => void;
  onResend: (row: Postback) => void;
};

export function useOutboxColumns({ selected, toggle, onResend }: Selection): Column<Postback>[] {
  const text = useTexts(texts);
  const words = useEventWords();
  const shown = useShownColumns();
  if (!useMay("operate")) return shown;
  return [
    {
      name: "select",
      title: <span className="visually-hidden">{text.columns.select}</span>,
      cell: (row) =>
        isResendable(row) && (
          <input
            type="checkbox"
            aria-label={text.selectRow(row.client_id, words.eventType(row.event_type))}
            checked={selected.has(keyOf(row))}
            onChange={() => toggle(row)}
          />
        ),
    },
    ...shown,
    {
      name: "actions",
      title: text.columns.actions,
      cell: (row) =>
        isResendable(row) && (
          <Button size="small" onClick={() => onResend(row)}>
            {text.resend}
          </Button>
        ),
    },
  ];
}

function useShownColumns(): Column<Postback>[] {
  const text = useTexts(texts);
  const { columns } = text;
  const app = useApp();
  const platformName = usePlatformName();
  return [
    { name: "at", title: columns.at, cell: ({ at }) => <span className="nowrap">{at}</span> },
    {
      name: "client",
      title: columns.client,
      cell: ({ client_id }) => (
        <Link className="mono" href={userAddress(app.app_id, client_id)}>
          <Clip text={client_id} />
        </Link>
      ),
    },
    { name: "event", title: columns.event, cell: (row) => <Told row={row} /> },
    {
      name: "platform",
      title: columns.platform,
      cell: ({ ad_platform }) => <span className="nowrap">{platformName(ad_platform)}</span>,
    },
    { name: "status", title: columns.status, cell: (row) => <PostbackOutcome row={row} /> },
    {
      name: "attempts",
      kind: "number",
      title: columns.attempts,
      cell: ({ attempts, resent }) => (
        <>
          {attempts}
          {resent > 0 && <div className="soft small">{text.resentTimes(resent)}</div>}
        </>
      ),
    },
    { name: "amount", kind: "number", title: columns.amount(app.currency), cell: (row) => <Amount row={row} /> },
  ];
}

function Told({ row: { event_type, trace_id, subject, rule_id } }: { row: Postback }) {
  const text = useTexts(texts);
  const words = useEventWords();
  const about = [trace_id === "" ? subject : text.order(trace_id), rule_id > 0 ? text.rule(rule_id) : ""];
  return (
    <div className="nowrap">
      {words.eventType(event_type)}
      <div className="soft small">
        <Clip text={about.filter(Boolean).join(" · ")} />
      </div>
    </div>
  );
}

function PostbackOutcome({ row }: { row: Postback }) {
  const text = useTexts(texts);
  const words = useEventWords();
  const { cents } = useFormat();
  const { status, reason, changed_at, refunded_cents, refunded_at } = row;
  return (
    <div className="outcome" title={text.changedAt(changed_at)}>
      <Badge tone={TONES[status] ?? "plain"}>{words.status(status)}</Badge>
      {refunded_cents > 0 && (
        <span title={text.refundedAt(refunded_at)}>
          {" "}
          <Badge tone="warn">{text.refunded(cents(refunded_cents))}</Badge>
        </span>
      )}
      {reason !== "" && <div className="small soft">{words.reason(reason)}</div>}
    </div>
  );
}

/** The amount reported if the postback was accepted, else the amount to report; empty when no money is involved. */
function Amount({ row: { status, value_cents, back_cents } }: { row: Postback }) {
  const { cents } = useFormat();
  return value_cents === null ? "" : cents(status === POSTBACK_STATUS.accepted ? back_cents : value_cents);
}
