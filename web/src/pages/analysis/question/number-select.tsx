import type { Amount, NumberOf, Source } from "../../../../../src/contract/analysis/question.ts";
import type { KnownNames } from "../../../analysis/names.ts";
import { useTexts } from "../../../texts.ts";
import { Frame } from "../../../ui/field.tsx";
import { texts } from "../texts.ts";
import { numberOf, numberText } from "./number-of.ts";

type NumberSelectProps = {
  source: Source["source"];
  number: NumberOf;
  known: KnownNames;
  onChange: (number: NumberOf) => void;
};

/** Which number of events or orders is added up: a property, or an amount of an order. */
export function NumberSelect({ source, number, known, onChange }: NumberSelectProps) {
  const text = useTexts(texts);
  const names = known.properties
    .filter(({ scope, type }) => scope === "event" && (type === "number" || type === "any"))
    .map(({ name }) => name);
  const { property } = number;
  const all = property === undefined || names.includes(property) ? names : [property, ...names];
  const chosen = numberText(number);
  return (
    <Frame label={text.number} problem={chosen === "" ? text.chooseNumber : undefined}>
      {(attributes) => (
        <select {...attributes} value={chosen} onChange={(event) => onChange(numberOf(event.target.value))}>
          <option value="" />
          {source === "order" && (
            <optgroup label={text.orders}>
              {Object.entries(text.amounts).map(([name, label]) => (
                <option key={name} value={numberText({ amount: name as Amount })}>
                  {label}
                </option>
              ))}
            </optgroup>
          )}
          <optgroup label={text.properties}>
            {all.map((name) => (
              <option key={name} value={numberText({ property: name })}>
                {name}
              </option>
            ))}
          </optgroup>
        </select>
      )}
    </Frame>
  );
}
