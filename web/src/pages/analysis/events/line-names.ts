import type { EventsLine, EventsQuestion, Series } from "../../../../../src/contract/analysis/events.ts";
import type { Source } from "../../../../../src/contract/analysis/question.ts";
import { useKnownNames } from "../../../analysis/known-names.ts";
import { useDimensionValue } from "../../../report/dimension-value.ts";
import { useTexts } from "../../../texts.ts";
import { fieldLabel, useFieldGroups } from "../question/field-select.tsx";
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
  const subject = ({ name }: EventsLine) => {
    const at = series.findIndex((_, index) => letterOf(index) === name);
    return at < 0 ? name : `${name} ${seriesName(series[at]!, text)}`;
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

/** The events or orders in words. */
export function useSourceName(): (source: Source) => string {
  const text = useTexts(texts);
  return (source) => sourceName(source, text);
}

function sourceName({ source, event }: Source, text: typeof texts.en): string {
  return source === "order" ? text.sources.order : (event ?? text.everyEvent);
}

function seriesName(series: Series, text: typeof texts.en): string {
  const { measure, property, amount, percent } = series;
  const number = amount !== undefined ? text.amounts[amount] : property;
  const measured = measure === "percentile" ? `${text.measures.percentile} ${percent ?? 50}` : text.measures[measure];
  return [sourceName(series, text), measured, ...(number === undefined ? [] : [number])].join(" · ");
}
