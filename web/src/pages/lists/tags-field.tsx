import { useState } from "react";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Frame, Suggested } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

type TagsFieldProps = {
  label: string;
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
  choices?: readonly string[];
  shown?: ((value: string) => string) | undefined;
  /** The numbers allowed, in a field that takes only numbers. */
  numbers?: RegExp;
};

/** Takes several values, typed one by one or pasted as a list. */
export function TagsField({ label, values, onChange, choices = [], shown = asTyped, numbers }: TagsFieldProps) {
  const text = useTexts(texts);
  const [typed, setTyped] = useState("");
  const [isBad, setBad] = useState(false);
  const add = (given: string) => {
    const found = partsOf(given);
    const bad = numbers !== undefined && found.some((part) => !numbers.test(part));
    setBad(bad);
    if (bad) return setTyped(given);
    if (found.length > 0) onChange([...new Set([...values, ...found])]);
    setTyped("");
  };
  return (
    <Frame label={label} problem={isBad ? text.badNumber : undefined}>
      {(attributes) => (
        <>
          <Tags values={values} onChange={onChange} shown={shown} />
          <div className="tags-input">
            <Suggested choices={choices.map((value) => ({ value, label: shown(value) }))}>
              {(list) => (
                <input
                  {...attributes}
                  value={typed}
                  list={list}
                  inputMode={numbers ? "decimal" : "text"}
                  onChange={({ target }) => (SEPARATOR.test(target.value) ? add(target.value) : setTyped(target.value))}
                  // A single-line input would drop the line breaks of a pasted list.
                  onPaste={(event) => {
                    const pasted = event.clipboardData.getData("text");
                    if (!SEPARATOR.test(pasted)) return;
                    event.preventDefault();
                    add(pasted);
                  }}
                  onKeyDown={(event) => {
                    if (event.key !== "Enter") return;
                    event.preventDefault();
                    add(typed);
                  }}
                  onBlur={() => add(typed)}
                />
              )}
            </Suggested>
            {typed.trim() !== "" && (
              <Button size="small" onClick={() => add(typed)}>
                {text.add}
              </Button>
            )}
          </div>
        </>
      )}
    </Frame>
  );
}

const asTyped = (value: string) => value;

const SEPARATOR = /[\n\t,，;；]/;

function partsOf(given: string): string[] {
  return given
    .split(SEPARATOR)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

type TagsProps = Pick<TagsFieldProps, "values" | "onChange"> & { shown: (value: string) => string };

function Tags({ values, onChange, shown }: TagsProps) {
  const text = useTexts(texts);
  if (values.length === 0) return null;
  return (
    <ul className="tags">
      {values.map((value) => (
        <li key={value} className="tag">
          <span>{shown(value)}</span>
          <button
            type="button"
            aria-label={`${text.remove} ${value}`}
            onClick={() => onChange(values.filter((one) => one !== value))}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}
