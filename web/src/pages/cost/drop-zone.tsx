import { type DragEvent, useState } from "react";
import { saveFile } from "../../save-file.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { type FileKind, templateOf } from "./csv-file.ts";
import { texts } from "./upload-texts.ts";

type DropZoneProps = { onFile: (file: File) => void; isBusy: boolean };

/** An area to drop a file on, with a button for keyboards and phones. */
export function DropZone({ onFile, isBusy }: DropZoneProps) {
  const text = useTexts(texts);
  const [isOver, setOver] = useState(false);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    const file = event.dataTransfer.files[0];
    if (file && !isBusy) onFile(file);
  };
  return (
    <label
      className={`drop-zone ${isOver ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <strong>{text.drop}</strong>
      <span className="button">{text.choose}</span>
      <input
        type="file"
        className="visually-hidden"
        accept=".csv,text/csv,text/plain"
        disabled={isBusy}
        onChange={(event) => {
          const file = event.target.files?.[0];
          // Without this reset, the same file could not be chosen again after it is corrected.
          event.target.value = "";
          if (file) onFile(file);
        }}
      />
    </label>
  );
}

export function TemplateButton({ kind }: { kind: FileKind }) {
  const text = useTexts(texts);
  return <Button onClick={() => saveFile(templateOf(kind), `${kind}-template.csv`)}>{text.template}</Button>;
}
