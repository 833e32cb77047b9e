import type { EventsLine, EventsQuestion, Series } from "../../../../../src/contract/analysis/events.ts";
import { useKnownNames } from "../../../analysis/known-names.ts";
import { useDimensionValue } from "../../../report/dimension-value.ts";
import { useTexts } from "../../../texts.ts";
import { fieldLabel, useFieldGroups } from "../question/field-select.tsx";
import { useSourceName } from "../question/source-name.ts";
import { letterOf } from "../state.ts";
import { texts } from "../texts.ts";

export type LineNames = {
  /** The fields of the split. */
  fields: string[];
  /** What is counted: the series in words, or the formula. */
  subject: (line: EventsLine) => string;
  /** The values of the split. */
  group: (line: EventsLine) => string[];
  /** Everything together. */
  full: (line: EventsLine) => string;
};

export function useLineNames({ series, split = [] }: EventsQuestion): LineNames {
  const text = useTexts(texts);
  const groups = useFieldGroups(useKnownNames(), "orders");
  const valueText = useDimensionValue();
  const sourceName = useSourceName();
  const subject = ({ name }: EventsLine) => {
    const at = series.findIndex((_, index) => letterOf(index) === name);
    const one = series[at];
    return one ? `${name} ${[sourceName(one), ...measureName(one, text)].join(" · ")}` : name;
  };
  const group = (line: EventsLine) =>
    split.map((field, at) => {
      if (line.is_other) return at === 0 ? text.other : "";
      return valueText(field, line.group[at] ?? "");
    });
  return {
    fields: split.map((field) => fieldLabel(groups, field)),
    subject,
    group,
    full: (line) => [subject(line), ...group(line).filter((value) => value !== "")].join(" · "),
  };
}

function measureName({ measure, property, amount, percent }: Series, text: typeof texts.en): string[] {
  const number = amount !== undefined ? text.amounts[amount] : property;
  const measured = measure === "percentile" ? `${text.measures.percentile} ${percent ?? 50}` : text.measures[measure];
  return number === undefined ? [measured] : [measured, number];
}
