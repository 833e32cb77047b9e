import { useState } from "react";
import { Link } from "wouter";
import type { UsersBehind } from "../../../../src/contract/analysis/question.ts";
import type { ShownSegment } from "../../../../src/contract/analysis/saved-segment.ts";
import type { SegmentQuestion } from "../../../../src/contract/analysis/segment.ts";
import { Freshness } from "../../analysis/freshness.tsx";
import { SEGMENT_DAYS } from "../../analysis/segment.ts";
import { useApp } from "../../chosen-app.tsx";
import { addDays, useFormat } from "../../format.ts";
import { useToday } from "../../report/days.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import type { Days } from "../../ui/date-range.tsx";
import { Empty } from "../../ui/empty.tsx";
import { Failure } from "../../ui/failure.tsx";
import { type Asked, useQuestion } from "../analysis/answer/answer-query.ts";
import { Settled } from "../analysis/answer/settled.tsx";
import { ExportDialog } from "../lists/export-dialog.tsx";
import { listAddress } from "../lists/list-state.ts";
import { userAddress } from "../lists/user-address.ts";
import { texts } from "./texts.ts";

const SHOWN = 50;

type SegmentUsersProps = {
  question: SegmentQuestion;
  days: Days;
  /** The segment as it is saved; undefined while it differs from what is asked. */
  saved: ShownSegment | undefined;
};

/** How many users a segment has, the first of them, and their files. */
export function SegmentUsers({ question, days, saved }: SegmentUsersProps) {
  const query = useQuestion<SegmentQuestion, UsersBehind>("segment", { ...question, limit: SHOWN });
  return (
    <>
      {query.error && <Failure error={query.error} />}
      <Settled query={query}>{(asked) => <Found asked={asked} days={days} saved={saved} />}</Settled>
    </>
  );
}

type FoundProps = Pick<SegmentUsersProps, "days" | "saved"> & { asked: Asked<SegmentQuestion, UsersBehind> };

function Found({ asked, days, saved }: FoundProps) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const { app_id } = useApp();
  const { client_ids, count } = asked.answer;
  return (
    <section className="card stack" aria-label={text.users(number(count))}>
      <div className="row apart">
        <h2>{text.users(number(count))}</h2>
        <div className="row">
          <Freshness received_until={asked.received_until} took_ms={asked.took_ms} />
          <Exports days={days} saved={saved} count={count} />
        </div>
      </div>
      {count === 0 ? (
        <Empty title={text.noUsers}>
          <p>{text.noUsersHelp}</p>
        </Empty>
      ) : (
        <>
          {count > client_ids.length && <p className="soft">{text.usersShown(number(client_ids.length))}</p>}
          <ul className="client-ids">
            {client_ids.map((clientId) => (
              <li key={clientId}>
                <Link className="mono" href={userAddress(app_id, clientId)}>
                  {clientId}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

type ExportsProps = Pick<SegmentUsersProps, "days" | "saved"> & { count: number };

function Exports({ days, saved, count }: ExportsProps) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [kind, setKind] = useState<"clients" | "devices">();
  // The list is about these days, and about no others.
  const today = useToday();
  const areUsual = days.to === today && days.from === addDays(today, 1 - SEGMENT_DAYS);
  if (!saved) return <span className="soft small">{text.saveFirst}</span>;
  const { segment_id, name } = saved;
  const body = { app_id, segment: segment_id, date_list: [days.from, days.to], kind, format: "csv" };
  return (
    <>
      {areUsual && (
        <Link className="button plain" href={listAddress("users", app_id, { segment: String(segment_id) })}>
          {text.listUsers}
        </Link>
      )}
      <Button onClick={() => setKind("clients")}>{text.clients}</Button>
      <Button onClick={() => setKind("devices")}>{text.devices}</Button>
      {kind && (
        <ExportDialog
          about={kind === "clients" ? text.exportClients : text.exportDevices}
          wanted={{ path: "segments/export", body, file: `${kind}-${name}` }}
          rows={count}
          onClose={() => setKind(undefined)}
        />
      )}
    </>
  );
}
