import { useState } from "react";
import { POSTBACK_STATUS } from "../../report/postback-status.ts";
import { useTexts } from "../../texts.ts";
import { SelectField, TextField } from "../../ui/field.tsx";
import { CENTS_MAX, centsOf, isOpenEnd } from "./amount.ts";
import type { CentsValue, FilterField, FilterValue, PostbackValue } from "./list-state.ts";
import { TagsField } from "./tags-field.tsx";
import { texts } from "./texts.ts";
import { namesOfFilter, useValueNames } from "./value-names.ts";

export type FilterFieldProps = {
  field: FilterField;
  value: FilterValue | undefined;
  /** Called with undefined when the filter is unset. */
  onChange: (value: FilterValue | undefined) => void;
};

/** The control for a filter's form. The server says which filters there are. */
export function FilterControl(props: FilterFieldProps) {
  const { field, value, onChange } = props;
  const text = useTexts(texts);
  const names = useValueNames();
  const label = labelOf(text.filters, field.name);
  switch (field.form) {
    case "dates":
      return <Range {...props} label={label} type="date" />;
    case "times":
      return <Range {...props} label={label} type="datetime-local" />;
    case "cents":
      return <Cents {...props} label={label} />;
    case "status":
      return (
        <SelectField
          label={label}
          value={(value as string | undefined) ?? ""}
          choices={[{ value: "", label: text.anyStatus }, ...statusChoices(text.statuses)]}
          onChange={(status) => onChange(status === "" ? undefined : status)}
        />
      );
    case "postback":
      return <Postback {...props} label={label} />;
    default: {
      const numbers = field.form === "numbers" || field.form === "counts" ? { numbers: /^\d{1,9}$/ } : {};
      return (
        <TagsField
          label={label}
          values={((value ?? []) as readonly (string | number)[]).map(String)}
          choices={field.name === "turbo_promoted_object_id_list" ? names.campaignIds : field.choices}
          shown={namesOfFilter(field.name, names)}
          {...numbers}
          onChange={(values) =>
            onChange(values.length === 0 ? undefined : field.form === "numbers" ? values.map(Number) : values)
          }
        />
      );
    }
  }
}

/** The label of a field, or its name in the interface if it has none. */
export function labelOf(names: Readonly<Record<string, string>>, name: string): string {
  return names[name] ?? name;
}

/** Preset for a filter by postbacks: those that the platform accepted. */
const ACCEPTED = String(POSTBACK_STATUS.accepted);

function statusChoices(statuses: readonly string[]) {
  return statuses.map((label, index) => ({ value: String(index), label }));
}

type Labelled = FilterFieldProps & { label: string };

/** Two ends, both included. If only one is given, the other is the same; if none is, the filter is unset. */
function Range({ value, onChange, label, type }: Labelled & { type: "date" | "datetime-local" }) {
  const text = useTexts(texts);
  const given = (value ?? []) as readonly string[];
  const [from, setFrom] = useState(given[0] ?? "");
  const [until, setUntil] = useState(given[1] ?? "");
  const set = (ends: { from: string; until: string }) => {
    setFrom(ends.from);
    setUntil(ends.until);
    const [first, last] = [wireTime(ends.from), wireTime(ends.until)];
    onChange(first === "" && last === "" ? undefined : [first || last, last || first]);
  };
  const step = type === "date" ? {} : { step: 1 };
  return (
    <fieldset className={`filter-range ${type}`}>
      <legend className="label">{label}</legend>
      <TextField
        {...step}
        type={type}
        label={text.from}
        value={inputTime(from)}
        onChange={(typed) => set({ from: typed, until })}
      />
      <TextField
        {...step}
        type={type}
        label={text.until}
        value={inputTime(until)}
        onChange={(typed) => set({ from, until: typed })}
      />
    </fieldset>
  );
}

/** Browsers write 2026-11-15T08:00, the interface 2026-11-15 08:00:00. */
function wireTime(text: string): string {
  const [day = "", time] = text.split(/[T ]/);
  return time === undefined ? day : `${day} ${time.length === 5 ? `${time}:00` : time.slice(0, 8)}`;
}

function inputTime(text: string): string {
  return text.replace(" ", "T");
}

/** Amounts are typed in major units. */
function Cents({ value, onChange, label }: Labelled) {
  const text = useTexts(texts);
  const { operator, values } = (value as CentsValue | undefined) ?? { operator: "between", values: [] };
  const [chosen, choose] = useState(operator);
  const choices = [
    { value: "between", label: text.range },
    { value: "inner", label: text.oneOf },
  ];
  return (
    <fieldset className="filter-range">
      <legend className="label">{label}</legend>
      <SelectField
        label={text.operator}
        value={chosen}
        choices={choices}
        onChange={(next) => {
          choose(next as CentsValue["operator"]);
          onChange(undefined);
        }}
      />
      {chosen === "between" ? (
        <AmountRange values={values} onChange={onChange} />
      ) : (
        <TagsField
          label={text.value}
          values={values.map((cents) => String(cents / 100))}
          numbers={/^\d{1,10}(\.\d\d?)?$/}
          onChange={(amounts) =>
            onChange(amounts.length === 0 ? undefined : { operator: "inner", values: amounts.map(centsOf) })
          }
        />
      )}
    </fieldset>
  );
}

function AmountRange({ values, onChange }: { values: readonly number[]; onChange: FilterFieldProps["onChange"] }) {
  const text = useTexts(texts);
  const shown = (cents: number | undefined, open: (cents: number) => boolean) =>
    cents === undefined || open(cents) ? "" : String(cents / 100);
  const [from, setFrom] = useState(shown(values[0], (cents) => cents === 0));
  const [until, setUntil] = useState(shown(values[1], isOpenEnd));
  const set = (ends: { from: string; until: string }) => {
    setFrom(ends.from);
    setUntil(ends.until);
    const range = [ends.from === "" ? 0 : centsOf(ends.from), ends.until === "" ? CENTS_MAX : centsOf(ends.until)];
    onChange(ends.from === "" && ends.until === "" ? undefined : { operator: "between", values: range });
  };
  const amount = { type: "number", step: "0.01", min: "0", inputMode: "decimal" } as const;
  return (
    <>
      <TextField {...amount} label={text.from} value={from} onChange={(typed) => set({ from: typed, until })} />
      <TextField {...amount} label={text.until} value={until} onChange={(typed) => set({ from, until: typed })} />
    </>
  );
}

function Postback({ field, value, onChange, label }: Labelled) {
  const text = useTexts(texts);
  const chosen = value as PostbackValue | undefined;
  return (
    <fieldset className="filter-range">
      <legend className="label">{label}</legend>
      <SelectField
        label={text.eventType}
        value={chosen?.event_type ?? ""}
        choices={[{ value: "", label: text.anyType }, ...field.choices.map((name) => ({ value: name, label: name }))]}
        onChange={(event_type) =>
          onChange(event_type === "" ? undefined : { event_type, status: chosen?.status ?? ACCEPTED })
        }
      />
      <SelectField
        label={text.filters.Status}
        value={chosen?.status ?? ACCEPTED}
        disabled={!chosen}
        choices={statusChoices(text.statuses)}
        onChange={(status) => chosen && onChange({ ...chosen, status })}
      />
    </fieldset>
  );
}
