import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { ConnectorCheck } from "../../../../src/contract/setting/connector.ts";
import { post } from "../../api.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { Failure } from "../../ui/failure.tsx";
import { TextField } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

type Verdict = NonNullable<ConnectorCheck["verdict"]>;

const TONES: Record<Verdict["kind"], Tone> = { accepted: "good", retry: "warn", permanent: "bad", token: "bad" };

/** Shows what would be sent, and how an answer would be read, without sending or storing anything. */
export function CheckPanel({ asked, isReady }: { asked: object; isReady: boolean }) {
  const text = useTexts(texts).check;
  const [status, setStatus] = useState("200");
  const [answer, setAnswer] = useState("");
  const [client, setClient] = useState("");
  const checking = useMutation({
    mutationFn: () => {
      const given = answer.trim() === "" ? {} : { answer: { status: Number(status), body: answer } };
      const of = client.trim() === "" ? {} : { client_id: client.trim() };
      return post<ConnectorCheck>("connectors/check", { ...asked, ...given, ...of });
    },
  });
  return (
    <section className="stack">
      <p className="soft">{text.about}</p>
      <div className="form-pair">
        <TextField label={text.client} hint={text.clientHint} value={client} onChange={setClient} spellCheck={false} />
        <TextField label={text.answer} hint={text.answerHint} value={answer} onChange={setAnswer} spellCheck={false} />
        <TextField label={text.status} inputMode="numeric" value={status} onChange={setStatus} />
      </div>
      <div className="row">
        <Button onClick={() => checking.mutate()} disabled={!isReady || checking.isPending}>
          {text.check}
        </Button>
      </div>
      {checking.error && !checking.isPending && <Failure error={checking.error} />}
      {checking.data && !checking.isPending && <CheckResult check={checking.data} />}
    </section>
  );
}

function CheckResult({ check: { calls, tells_money, verdict } }: { check: ConnectorCheck }) {
  const text = useTexts(texts).check;
  const element = useRef<HTMLElement>(null);
  // The fields above fill the dialog, so that the result would stay unseen below.
  useEffect(() => {
    element.current?.scrollIntoView({ block: "start" });
  }, []);
  return (
    <section ref={element} className="stack tight" aria-live="polite">
      <div className="row">
        <Badge tone="good">{text.fine}</Badge>
        <span>{tells_money ? text.money : text.noMoney}</span>
      </div>
      {verdict && (
        <div className="row">
          <span>{text.meaning}</span>
          <Badge tone={TONES[verdict.kind]}>{text.verdicts[verdict.kind]}</Badge>
          <span>{verdict.reason}</span>
        </div>
      )}
      {calls.map((call) => (
        <div key={call.event_type}>
          <h3>{text.call(call.event_type, call.code)}</h3>
          {call.request ? <CopyBlock value={requestText(call.request)} wrap /> : <p>{text.nothing(call.reason)}</p>}
        </div>
      ))}
    </section>
  );
}

function requestText(request: NonNullable<ConnectorCheck["calls"][number]["request"]>): string {
  return [
    `${request.method} ${request.url}`,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
    ...(request.body === "" ? [] : ["", request.body]),
  ].join("\n");
}
