import { memo, useState } from "react";
import type { LiveCall } from "../../../../src/contract/live.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { rejectedOf, summaryOf } from "./summary.ts";
import { texts } from "./texts.ts";

/** One call as a line that unfolds into all its details. */
export const CallRow = memo(function CallRow({ call }: { call: LiveCall }) {
  const { time_zone: timeZone } = useApp();
  const { time } = useFormat();
  const [isOpen, setOpen] = useState(false);
  const { words, more } = summaryOf(call);
  const isBad = call.code !== 0 || rejectedOf(call) > 0;
  return (
    <details
      className={`call ${isBad ? "bad" : ""}`}
      onToggle={(event) => setOpen((event.target as HTMLDetailsElement).open)}
    >
      <summary>
        <time dateTime={new Date(call.at_ms).toISOString()}>{time(call.at_ms, timeZone)}</time>
        <span className="endpoint">{call.endpoint}</span>
        <span className="client mono">{call.client_id}</span>
        <span className="words">
          {words.map((word) => (
            <code key={word}>{word}</code>
          ))}
          {more > 0 && <span className="soft">+{more}</span>}
        </span>
        <span className="outcome">
          <CallAnswer call={call} />
        </span>
      </summary>
      {isOpen && <CallDetails call={call} />}
    </details>
  );
});

function CallAnswer({ call }: { call: LiveCall }) {
  const text = useTexts(texts);
  const rejected = rejectedOf(call);
  return (
    <>
      {call.debug && <Badge tone="accent">{text.debug}</Badge>}
      {call.code !== 0 && <Badge tone="bad">{text.refused(call.code)}</Badge>}
      {rejected > 0 && <Badge tone="bad">{text.rejected(rejected)}</Badge>}
      {call.code === 0 && rejected === 0 && call.errors.length > 0 && <Badge tone="warn">{text.changed}</Badge>}
      {call.code === 0 && call.errors.length === 0 && <Badge tone="good">{text.takenIn}</Badge>}
    </>
  );
}

function CallDetails({ call }: { call: LiveCall }) {
  const text = useTexts(texts);
  return (
    <div className="call-details stack tight">
      {call.msg !== "" && <p className="reason">{call.msg}</p>}
      {call.errors.length > 0 && (
        <ul className="reasons">
          {call.errors.map(({ index, event, reason, message }) => (
            <li key={`${index} ${reason} ${message}`} className={reason === "bad_property" ? "told" : "reason"}>
              <code>{event || `#${index}`}</code> <strong>{reason}</strong> {message}
            </li>
          ))}
        </ul>
      )}
      <dl className="facts">
        <div>
          <dt>{text.address}</dt>
          <dd className="mono">{call.ip || "–"}</dd>
        </div>
        <div>
          <dt>{text.userAgent}</dt>
          <dd className="mono">{call.ua || "–"}</dd>
        </div>
      </dl>
      {call.body === null ? <p className="soft">{text.hidden}</p> : <CopyBlock value={shown(call.body)} />}
    </div>
  );
}

function shown(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body, null, 2);
}
