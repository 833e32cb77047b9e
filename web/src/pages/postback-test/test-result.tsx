import { useEffect, useRef } from "react";
import type { PostbackTest, TestVerdict } from "../../../../src/contract/admin/postback-test.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { texts } from "./texts.ts";

const TONES: Record<TestVerdict, Tone> = {
  accepted: "good",
  refused: "bad",
  retry: "warn",
  no_answer: "warn",
  not_sent: "bad",
};

export function TestResult({ test }: { test: PostbackTest }) {
  const text = useTexts(texts);
  const [badge, meaning] = text.verdicts[test.verdict];
  const element = useRef<HTMLElement>(null);
  // The fields above fill the dialog, so that the result would stay unseen below.
  useEffect(() => {
    element.current?.scrollIntoView({ block: "start" });
  }, []);
  return (
    <section ref={element} className="stack tight" aria-live="polite">
      <div className="row">
        <Badge tone={TONES[test.verdict]}>{badge}</Badge>
        <span>{meaning}</span>
      </div>
      {test.reason !== "" && <p>{test.reason}</p>}
      <p className="soft small">
        {[
          test.mark === "" ? text.unmarked : text.marked(test.mark),
          ...test.notes.map((note) => text.notes[note]),
        ].join(" ")}
      </p>
      <p className="soft small">{text.id(test.test_id, test.at)}</p>
      <h3>{text.request}</h3>
      <CopyBlock value={requestText(test)} wrap />
      <h3>{text.answer}</h3>
      <CopyBlock value={answerText(test, text)} wrap />
      <p className="soft small">{text.masked}</p>
    </section>
  );
}

function requestText({ request }: PostbackTest): string {
  return [
    `${request.method} ${request.url}`,
    ...linesOf(request.headers),
    ...(request.body === "" ? [] : ["", request.body]),
  ].join("\n");
}

function answerText({ answer }: PostbackTest, text: { noAnswer: string; cut: string }): string {
  if (!answer) return text.noAnswer;
  const body = answer.is_cut ? `${answer.body} ${text.cut}` : answer.body;
  return [`HTTP ${answer.status}`, ...linesOf(answer.headers), "", body].join("\n");
}

function linesOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}
