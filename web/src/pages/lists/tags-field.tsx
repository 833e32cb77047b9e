import { useId, useState } from "react";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { texts } from "./texts.ts";

type TagsFieldProps = {
  label: string;
  values: readonly string[];
  onChange: (values: readonly string[]) => void;
  choices?: readonly string[];
  shown?: ((value: string) => string) | undefined;
  /** Where only numbers can be meant, which. */
  numbers?: RegExp;
};

/** Several values: typed one after the other, or pasted from a list. */
export function TagsField({ label, values, onChange, choices = [], shown, numbers }: TagsFieldProps) {
  const text = useTexts(texts);
  const id = useId();
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
    <div className="field">
      <label className="label" htmlFor={id}>
        {label}
      </label>
      <Tags values={values} onChange={onChange} shown={shown} />
      <div className="tags-input">
        <input
          id={id}
          className="input"
          value={typed}
          list={choices.length > 0 ? `${id}-choices` : undefined}
          inputMode={numbers ? "decimal" : "text"}
          aria-invalid={isBad}
          aria-describedby={isBad ? `${id}-about` : undefined}
          onChange={({ target }) => (SEPARATOR.test(target.value) ? add(target.value) : setTyped(target.value))}
          // A field of one line would lose the line breaks of what is pasted.
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
        {typed.trim() !== "" && (
          <Button size="small" onClick={() => add(typed)}>
            {text.add}
          </Button>
        )}
      </div>
      {isBad && (
        <span id={`${id}-about`} className="problem" role="alert">
          {text.badNumber}
        </span>
      )}
      <Choices id={`${id}-choices`} choices={choices} shown={shown} />
    </div>
  );
}

const SEPARATOR = /[\n\t,，;；]/;

function partsOf(given: string): string[] {
  return given
    .split(SEPARATOR)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

type Shown = { shown: ((value: string) => string) | undefined };

function Tags({ values, onChange, shown }: Pick<TagsFieldProps, "values" | "onChange"> & Shown) {
  const text = useTexts(texts);
  if (values.length === 0) return null;
  return (
    <ul className="tags">
      {values.map((value) => (
        <li key={value} className="tag">
          <span>{shown?.(value) ?? value}</span>
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

function Choices({ id, choices, shown }: { id: string; choices: readonly string[] } & Shown) {
  if (choices.length === 0) return null;
  return (
    <datalist id={id}>
      {choices.map((choice) => (
        <option key={choice} value={choice}>
          {shown?.(choice) ?? choice}
        </option>
      ))}
    </datalist>
  );
}
