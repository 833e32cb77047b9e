import { useTexts } from "../texts.ts";
import { TextField } from "./field.tsx";

const texts = {
  en: {
    from: "First day",
    to: "Last day",
    toHint: "Leave empty for no end.",
    since: (day: string) => `from ${day} on`,
    between: (from: string, to: string) => `${from} to ${to}`,
  },
  zh: {
    from: "开始日期",
    to: "结束日期",
    toHint: "留空表示长期有效。",
    since: (day: string) => `${day} 起`,
    between: (from: string, to: string) => `${from} 至 ${to}`,
  },
};

/** Days as people type them; an empty last day means no end. */
type Period = { from: string; to: string };

type PeriodFieldsProps = {
  period: Period;
  onChange: (changes: Partial<Period>) => void;
  /** Whether the first day is part of the key, which stays. */
  isStored: boolean;
};

/** The first and the last day of a setting. */
export function PeriodFields({ period, onChange, isStored }: PeriodFieldsProps) {
  const text = useTexts(texts);
  return (
    <div className="form-pair">
      <TextField
        label={text.from}
        type="date"
        value={period.from}
        disabled={isStored}
        onChange={(from) => onChange({ from })}
      />
      <TextField label={text.to} hint={text.toHint} type="date" value={period.to} onChange={(to) => onChange({ to })} />
    </div>
  );
}

/** A period in words. */
export function usePeriodText(): (period: { start_date: string; end_date: string }) => string {
  const text = useTexts(texts);
  return ({ start_date, end_date }) => (end_date === "" ? text.since(start_date) : text.between(start_date, end_date));
}
