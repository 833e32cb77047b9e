import { Link } from "wouter";
import type { Checklist, Step } from "../../../../src/contract/setting/app.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { texts } from "./texts.ts";

/** The steps in the order in which they usually happen. */
const ORDER: readonly Step[] = ["request", "touch", "registration", "event", "order", "cost", "postback"];

/** The page where each step can be seen or done. */
const PAGES: Partial<Record<Step, string>> = {
  touch: "/campaigns",
  registration: "/users",
  event: "/metadata",
  order: "/orders",
  cost: "/cost",
  postback: "/postbacks",
};

export function isComplete(steps: Checklist): boolean {
  return ORDER.every((step) => steps[step].done);
}

export function ChecklistCard({ steps }: { steps: Checklist }) {
  const text = useTexts(texts);
  const format = useFormat();
  const { time_zone } = useApp();
  const done = ORDER.filter((step) => steps[step].done).length;
  return (
    <section className="card stack tight" aria-label={text.checklist}>
      <div className="row apart">
        <h2>{text.checklist}</h2>
        <span className="soft small" role="status">
          {text.progress(done, ORDER.length)}
        </span>
      </div>
      <progress className="start-bar" max={ORDER.length} value={done} aria-label={text.checklist} />
      <ol className="checklist">
        {ORDER.map((step) => {
          const { at_ms } = steps[step];
          return (
            <li key={step} className={steps[step].done ? "done" : undefined} data-step={step}>
              <StepTitle step={step} />
              <span className="when small">{at_ms === null ? text.open : format.instant(at_ms, time_zone)}</span>
              <span className="soft small">{text.steps[step].hint}</span>
            </li>
          );
        })}
      </ol>
      <span className="soft small">{isComplete(steps) ? text.allDone : text.live}</span>
    </section>
  );
}

function StepTitle({ step }: { step: Step }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const page = PAGES[step];
  const { title } = text.steps[step];
  return <strong>{page ? <Link href={`${page}?app=${app_id}`}>{title}</Link> : title}</strong>;
}
