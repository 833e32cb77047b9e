import type { Checklist } from "../../../../src/contract/setting/app.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { ChecklistCard, isComplete } from "./checklist.tsx";
import { texts } from "./texts.ts";
import { TryIt } from "./try-it.tsx";
import "./start.css";

const LOOK_MS = 2_000;

/** Leads from nothing to the first attributed payment, without further reading. */
export function StartPage() {
  const text = useTexts(texts);
  const app = useApp();
  const checklist = useAppQuery<Checklist>("apps/checklist", {
    refetchInterval: ({ state }) => (state.data && isComplete(state.data) ? false : LOOK_MS),
  });
  return (
    <>
      <PageHead title={text.title} about={text.about(app.name)} />
      <div className="start">
        <div className="start-progress">
          <QueryView query={checklist}>{(steps) => <ChecklistCard steps={steps} />}</QueryView>
        </div>
        <div className="stack">
          <section className="card stack tight">
            <h2>{text.tokens}</h2>
            <h3>{text.address}</h3>
            <CopyBlock value={location.origin} wrap />
            <h3>{text.accessToken}</h3>
            <CopyBlock value={app.access_token} wrap />
          </section>
          <TryIt />
        </div>
      </div>
    </>
  );
}
