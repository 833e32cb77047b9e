import { useTexts } from "../texts.ts";
import { SelectField } from "../ui/field.tsx";
import type { Caliber, Reading } from "./catalogue.ts";

const texts = {
  en: {
    caliber: "Date basis",
    calibers: {
      user_activated_time: "Touch day (first caliber)",
      behavior_occurred_time: "Event day (second caliber)",
    },
    model: "ROI model",
    models: { "1": "Calendar days", "2": "Precise (24-hour spans)" },
  },
  zh: {
    caliber: "统计口径",
    calibers: { user_activated_time: "触点日（第一口径）", behavior_occurred_time: "行为发生日（第二口径）" },
    model: "ROI 模型",
    models: { "1": "自然日", "2": "精准（24 小时）" },
  },
};

/** A valid reading, whatever the address says: unknown values become the defaults. */
export function readingOf({ caliber, roi }: { caliber: string; roi: string }): Reading {
  const known: Caliber = caliber === "user_activated_time" ? caliber : "behavior_occurred_time";
  return { caliber: known, roi: roi === "2" ? "2" : "1" };
}

type ReadingFieldsProps = { reading: Reading; onChange: (change: Partial<Reading>) => void };

export function ReadingFields({ reading, onChange }: ReadingFieldsProps) {
  const text = useTexts(texts);
  const choices = (labels: Record<string, string>) =>
    Object.entries(labels).map(([value, label]) => ({ value, label }));
  return (
    <>
      <SelectField
        label={text.caliber}
        value={reading.caliber}
        choices={choices(text.calibers)}
        onChange={(caliber) => onChange({ caliber: caliber as Caliber })}
      />
      <SelectField
        label={text.model}
        value={reading.roi}
        choices={choices(text.models)}
        onChange={(roi) => onChange({ roi: roi as Reading["roi"] })}
      />
    </>
  );
}
