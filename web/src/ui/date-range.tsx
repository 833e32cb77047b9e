import { addDays } from "../format.ts";
import { useTexts } from "../texts.ts";
import { SelectField, TextField } from "./field.tsx";
import { texts } from "./texts.ts";

/** Local days of the app, both ends included. */
export type Days = { from: string; to: string };

const SPANS = [7, 14, 30, 60, 90] as const;

type DateRangeProps = { days: Days; today: string; onChange: (days: Days) => void };

export function DateRange({ days, today, onChange }: DateRangeProps) {
  const text = useTexts(texts);
  const presets = [
    { value: "today", label: text.today, days: { from: today, to: today } },
    { value: "yesterday", label: text.yesterday, days: { from: addDays(today, -1), to: addDays(today, -1) } },
    ...SPANS.map((span) => ({
      value: String(span),
      label: text.lastDays(span),
      days: { from: addDays(today, 1 - span), to: today },
    })),
  ];
  const chosen = presets.find((preset) => preset.days.from === days.from && preset.days.to === days.to)?.value ?? "own";
  const choices = chosen === "own" ? [...presets, { value: "own", label: text.customRange }] : presets;
  return (
    <>
      <SelectField
        label={text.range}
        value={chosen}
        choices={choices}
        onChange={(value) => onChange(presets.find((preset) => preset.value === value)?.days ?? days)}
      />
      <TextField
        type="date"
        label={text.from}
        value={days.from}
        max={days.to}
        onChange={(from) => from && onChange(inOrder(from, days.to))}
      />
      <TextField
        type="date"
        label={text.to}
        value={days.to}
        min={days.from}
        onChange={(to) => to && onChange(inOrder(days.from, to))}
      />
    </>
  );
}

/** Swaps the ends if one was moved beyond the other. */
function inOrder(from: string, to: string): Days {
  const [first = from, last = to] = [from, to].sort();
  return { from: first, to: last };
}
