import { useLocation } from "wouter";
import { sqlDraft } from "../../../analysis/sql-draft.ts";
import { useApp } from "../../../chosen-app.tsx";
import { useTexts } from "../../../texts.ts";
import { Button } from "../../../ui/button.tsx";
import { CopyBlock } from "../../../ui/copy-block.tsx";
import { texts } from "../texts.ts";

/** The statement of an answer, to be read, copied or changed. */
export function AsSql({ sql }: { sql: string }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [, navigate] = useLocation();
  const open = () => {
    sqlDraft.write(sql);
    navigate(`/sql?app=${app_id}`);
  };
  return (
    <details className="card">
      <summary>{text.asSql}</summary>
      <div className="stack tight as-sql">
        <CopyBlock value={sql} />
        <div className="row">
          <Button onClick={open}>{text.openSql}</Button>
        </div>
      </div>
    </details>
  );
}
