import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Frame } from "../../ui/field.tsx";
import { texts } from "./texts.ts";
import { type Name, suggestionsFor, wordBefore } from "./views.ts";

/** Inserts a text at the caret. */
export type Inserting = (text: string) => void;

type StatementProps = {
  value: string;
  names: readonly Name[];
  /** Where others find how to insert. */
  inserting: RefObject<Inserting | undefined>;
  onChange: (statement: string) => void;
  onRun: () => void;
};

/** The statement. Below it stand the names that begin like the word at the caret; Tab takes the first. */
export function Statement({ value, names, inserting, onChange, onRun }: StatementProps) {
  const text = useTexts(texts);
  const area = useRef<HTMLTextAreaElement>(null);
  const [word, setWord] = useState("");
  const suggestions = suggestionsFor(names, word);
  // Replaces by the browser's own command, so that it can be undone like what was typed.
  const insert = (inserted: string, replaced = "") => {
    const element = area.current!;
    element.focus();
    element.setSelectionRange(element.selectionStart - replaced.length, element.selectionEnd);
    document.execCommand("insertText", false, inserted);
    setWord("");
  };
  useEffect(() => {
    inserting.current = insert;
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const [first] = suggestions;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onRun();
    else if (event.key === "Tab" && !event.shiftKey && first) insert(first.text, word);
    else if (event.key === "Escape" && first) setWord("");
    else return;
    event.preventDefault();
  };
  return (
    <>
      <Frame label={text.statement} hint={text.statementHint}>
        {(attributes) => (
          <textarea
            {...attributes}
            ref={area}
            rows={10}
            spellCheck={false}
            maxLength={20_000}
            placeholder={text.placeholder}
            value={value}
            onChange={({ target }) => {
              onChange(target.value);
              setWord(wordBefore(target.value, target.selectionStart));
            }}
            onKeyDown={onKeyDown}
          />
        )}
      </Frame>
      {suggestions.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a fieldset would draw itself
        <div className="row" role="group" aria-label={text.suggestions}>
          {suggestions.map(({ name, text: inserted }) => (
            <Button key={inserted} size="small" className="mono" onClick={() => insert(inserted, word)}>
              {name}
            </Button>
          ))}
        </div>
      )}
    </>
  );
}
