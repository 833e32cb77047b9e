import { useStored } from "../../stored.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { sqlHistory, statementsOf } from "./history.ts";
import { texts } from "./texts.ts";

/** Earlier statements; a click brings one back. */
export function History({ onUse }: { onUse: (statement: string) => void }) {
  const text = useTexts(texts);
  const statements = statementsOf(useStored(sqlHistory));
  return (
    <details className="card">
      <summary>{text.history}</summary>
      <div className="stack tight sql-history">
        <p className="soft small">{statements.length === 0 ? text.noHistory : text.historyAbout}</p>
        <ul>
          {statements.map((statement) => (
            <li key={statement}>
              <button type="button" className="mono" title={statement} onClick={() => onUse(statement)}>
                {statement.replaceAll(/\s+/g, " ")}
              </button>
            </li>
          ))}
        </ul>
        {statements.length > 0 && (
          <div className="row">
            <Button size="small" onClick={() => sqlHistory.write("[]")}>
              {text.clear}
            </Button>
          </div>
        )}
      </div>
    </details>
  );
}
