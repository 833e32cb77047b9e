import type { Within } from "../../../../src/contract/analysis/segment.ts";
import { addDays } from "../../format.ts";
import { useToday } from "../../report/days.ts";
import { useTexts } from "../../texts.ts";
import { SelectField } from "../../ui/field.tsx";
import { SettledField } from "../../ui/settled-field.tsx";
import { texts } from "./texts.ts";

const DAYS_MAX = 366;
const LAST_DAYS = 7;

type WithinProps = { within: Within; onChange: (within: Within) => void };

/** When something was done: in the days of the question, in so many last days, or in days of its own. */
export function WithinFields({ within, onChange }: WithinProps) {
  const text = useTexts(texts);
  const today = useToday();
  const { date_list, last_days } = within;
  const when = date_list ? "days" : last_days !== undefined ? "last" : "range";
  const choose = (next: string) => {
    if (next === "last") return onChange({ last_days: LAST_DAYS });
    onChange(next === "days" ? { date_list: [addDays(today, 1 - LAST_DAYS), today] } : {});
  };
  return (
    <>
      <SelectField
        label={text.when}
        value={when}
        choices={(["range", "last", "days"] as const).map((value) => ({ value, label: text.whens[value] }))}
        onChange={choose}
      />
      {when === "last" && (
        <SettledField
          label={text.lastDays}
          type="number"
          min="1"
          max={String(DAYS_MAX)}
          value={String(last_days)}
          onChange={(typed) => onChange({ last_days: daysIn(typed) })}
        />
      )}
      {date_list && <Ends days={date_list} onChange={(days) => onChange({ date_list: days })} />}
    </>
  );
}

function Ends({ days, onChange }: { days: readonly string[]; onChange: (days: readonly string[]) => void }) {
  const text = useTexts(texts);
  const [from = "", to = ""] = days;
  const set = (first: string, last: string) => first !== "" && last !== "" && onChange([first, last].sort());
  return (
    <>
      <SettledField type="date" label={text.from} value={from} onChange={(day) => set(day, to)} />
      <SettledField type="date" label={text.to} value={to} onChange={(day) => set(from, day)} />
    </>
  );
}

function daysIn(typed: string): number {
  return Math.min(DAYS_MAX, Math.max(1, Math.floor(Number(typed)) || LAST_DAYS));
}
