import { useTexts } from "../../texts.ts";
import { SelectField, TextField } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

type FieldProps<T extends string = string> = { value: T; onChange: (value: T) => void };

const ZONES = Intl.supportedValuesOf("timeZone").map((zone) => ({ value: zone, label: zone }));

export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return zone !== "";
  } catch {
    return false;
  }
}

export function NameField({ value, onChange }: FieldProps) {
  const text = useTexts(texts);
  return (
    <TextField label={text.name} hint={text.nameHint} value={value} onChange={onChange} maxLength={200} required />
  );
}

export function TimeZoneField({ value, onChange }: FieldProps) {
  const text = useTexts(texts);
  const problem = value === "" || isTimeZone(value) ? undefined : text.zoneProblem;
  return (
    <TextField
      label={text.timeZone}
      hint={text.timeZoneHint}
      problem={problem}
      value={value}
      onChange={onChange}
      suggestions={ZONES}
      required
    />
  );
}

export function CurrencyField({ value, onChange }: FieldProps) {
  const text = useTexts(texts);
  return (
    <TextField
      label={text.currency}
      hint={text.currencyHint}
      value={value}
      onChange={(typed) => onChange(typed.toUpperCase())}
      pattern="[A-Z]{3}"
      maxLength={3}
      required
    />
  );
}

export function MetadataField({ value, onChange }: FieldProps<"open" | "strict">) {
  const text = useTexts(texts);
  const choices = (["open", "strict"] as const).map((mode) => ({ value: mode, label: text.modeChoices[mode] }));
  return (
    <SelectField
      label={text.metadata}
      value={value}
      choices={choices}
      onChange={(mode) => onChange(mode as "open" | "strict")}
    />
  );
}
