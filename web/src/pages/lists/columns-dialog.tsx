import { useState } from "react";
import type { ListName } from "../../../../src/contract/admin/admin-list.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextField } from "../../ui/field.tsx";
import { columnTexts } from "./column-texts.ts";
import { labelOf } from "./filter-field.tsx";
import type { ListColumn } from "./list-state.ts";
import { USUAL_COLUMNS } from "./shown-columns.ts";
import { texts } from "./texts.ts";

type ColumnsDialogProps = {
  list: ListName;
  columns: readonly ListColumn[];
  shown: readonly ListColumn[];
  onChoose: (names: readonly string[]) => void;
  onClose: () => void;
};

export function ColumnsDialog({ list, columns, shown, onChoose, onClose }: ColumnsDialogProps) {
  const text = useTexts(texts);
  const names = useTexts(columnTexts);
  const [chosen, setChosen] = useState<readonly string[]>(shown.map(({ name }) => name));
  const [sought, setSought] = useState("");
  const others = columns
    .map(({ name }) => name)
    .filter((name) => !chosen.includes(name))
    .filter((name) => `${name} ${labelOf(names, name)}`.toLowerCase().includes(sought.trim().toLowerCase()));
  return (
    <Dialog title={text.columns} onClose={onClose} width="wide">
      <p className="soft">{text.columnsAbout}</p>
      <div className="grid">
        <Chosen chosen={chosen} onChange={setChosen} />
        <section className="stack tight">
          <h3>{text.others}</h3>
          <TextField label={text.findColumn} value={sought} onChange={setSought} />
          <ul className="column-list">
            {others.map((name) => (
              <li key={name}>
                <span className="grow">
                  {labelOf(names, name)} <code className="soft">{name}</code>
                </span>
                <ColumnButton
                  sign="+"
                  label={`${text.add}: ${labelOf(names, name)}`}
                  onClick={() => setChosen([...chosen, name])}
                />
              </li>
            ))}
          </ul>
        </section>
      </div>
      <div className="row apart">
        <Button look="quiet" onClick={() => setChosen(USUAL_COLUMNS[list])}>
          {text.usual}
        </Button>
        <span className="row">
          <Button onClick={onClose}>{text.close}</Button>
          <Button look="main" onClick={() => onChoose(chosen)}>
            {text.save}
          </Button>
        </span>
      </div>
    </Dialog>
  );
}

function Chosen({ chosen, onChange }: { chosen: readonly string[]; onChange: (names: readonly string[]) => void }) {
  const text = useTexts(texts);
  const names = useTexts(columnTexts);
  return (
    <section className="stack tight">
      <h3>{text.shown}</h3>
      <ol className="column-list">
        {chosen.map((name, index) => (
          <li key={name}>
            <span className="grow">{labelOf(names, name)}</span>
            <ColumnButton
              sign="↑"
              label={`${text.up}: ${labelOf(names, name)}`}
              disabled={index === 0}
              onClick={() => onChange(moved(chosen, index, index - 1))}
            />
            <ColumnButton
              sign="↓"
              label={`${text.down}: ${labelOf(names, name)}`}
              disabled={index === chosen.length - 1}
              onClick={() => onChange(moved(chosen, index, index + 1))}
            />
            <ColumnButton
              sign="×"
              label={`${text.remove}: ${labelOf(names, name)}`}
              disabled={chosen.length === 1}
              onClick={() => onChange(chosen.filter((one) => one !== name))}
            />
          </li>
        ))}
      </ol>
    </section>
  );
}

type ColumnButtonProps = { sign: string; label: string; disabled?: boolean; onClick: () => void };

function ColumnButton({ sign, label, disabled = false, onClick }: ColumnButtonProps) {
  return (
    <Button look="quiet" size="small" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      {sign}
    </Button>
  );
}

function moved(names: readonly string[], from: number, to: number): readonly string[] {
  const next = names.filter((_, index) => index !== from);
  next.splice(to, 0, names[from]!);
  return next;
}
