import { useRef } from "react";
import { useKnownNames } from "../../analysis/known-names.ts";
import { LakeGate } from "../../analysis/lake-gate.tsx";
import { sqlDraft } from "../../analysis/sql-draft.ts";
import { useStored } from "../../stored.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Progress } from "../../ui/progress.tsx";
import { History } from "./history-panel.tsx";
import { NameList } from "./name-list.tsx";
import { Rows } from "./rows.tsx";
import { useRunning } from "./run-query.ts";
import { type Inserting, Statement } from "./statement.tsx";
import { texts } from "./texts.ts";
import { allNames } from "./views.ts";
import "./sql.css";

export function SqlPage() {
  const text = useTexts(texts);
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <LakeGate>
        <Desk />
      </LakeGate>
    </>
  );
}

function Desk() {
  const text = useTexts(texts);
  const statement = useStored(sqlDraft);
  const known = useKnownNames();
  const { state, run, cancel } = useRunning();
  const inserting = useRef<Inserting>(undefined);
  const isRunning = state.kind === "running";
  return (
    <div className="sql-desk">
      <div className="stack sql-main">
        <section className="card stack tight">
          <Statement
            value={statement}
            names={allNames(known)}
            inserting={inserting}
            onChange={sqlDraft.write}
            onRun={() => run(statement)}
          />
          <div className="row">
            <Button look="main" disabled={isRunning || statement.trim() === ""} onClick={() => run(statement)}>
              {isRunning ? text.running : text.run}
            </Button>
            {isRunning && <Button onClick={cancel}>{text.cancel}</Button>}
            {state.kind === "cancelled" && <span role="status">{text.cancelled}</span>}
          </div>
          {state.kind === "failed" && <Failure error={state.error} />}
        </section>
        {isRunning && <Progress label={text.running} />}
        {state.kind === "answered" && <Rows answer={state.rows} />}
        <History onUse={sqlDraft.write} />
      </div>
      <NameList known={known} onInsert={(name) => inserting.current?.(name)} />
    </div>
  );
}
