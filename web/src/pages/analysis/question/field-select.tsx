import type { ORDER_COLUMNS, USER_COLUMNS } from "../../../../../src/contract/analysis/condition.ts";
import type { KnownNames } from "../../../analysis/names.ts";
import { texts as filterTexts } from "../../../report/filter-texts.ts";
import { useTexts } from "../../../texts.ts";
import { type Choice, Frame } from "../../../ui/field.tsx";
import { fieldTexts } from "./field-texts.ts";

export type UserColumn = (typeof USER_COLUMNS)[number];
export type OrderColumn = (typeof ORDER_COLUMNS)[number];

export type FieldGroup = { title: string; choices: readonly Choice[] };

/** What a question can be filtered and split by: with columns of orders, without them, or only what users have. */
export function useFieldGroups(known: KnownNames, of: "orders" | "no orders" | "users"): FieldGroup[] {
  const text = useTexts(fieldTexts);
  const properties = (scope: "event" | "user") =>
    known.properties
      .filter((one) => one.scope === scope)
      .map(({ name }) => ({ value: `${scope}$${name}`, label: name }));
  const columns = Object.entries(text.orderColumns).map(([name, label]) => ({ value: `order$${name}`, label }));
  const users = useUserColumns().map(([value, label]) => ({ value, label }));
  return [
    { title: text.userColumns, choices: users },
    ...(of === "orders" ? [{ title: text.orders, choices: columns }] : []),
    ...(of === "users"
      ? []
      : [
          { title: text.eventProperties, choices: [{ value: "event", label: text.eventName }, ...properties("event")] },
        ]),
    { title: text.userProperties, choices: properties("user") },
  ];
}

function useUserColumns(): [UserColumn, string][] {
  const text = useTexts(fieldTexts);
  const { names } = useTexts(filterTexts);
  const labels: Record<UserColumn, string> = { ...names, ...text.dayColumns };
  return Object.entries(labels) as [UserColumn, string][];
}

/** The name of a field: as it is chosen, or as it stands in the address when nobody knows it. */
export function fieldLabel(groups: readonly FieldGroup[], field: string): string {
  return groups.flatMap(({ choices }) => choices).find(({ value }) => value === field)?.label ?? field;
}

type FieldSelectProps = {
  label: string;
  value: string;
  groups: readonly FieldGroup[];
  /** What the empty choice is called. */
  none: string;
  onChange: (field: string) => void;
};

export function FieldSelect({ label, value, groups, none, onChange }: FieldSelectProps) {
  const isKnown = groups.some(({ choices }) => choices.some((choice) => choice.value === value));
  return (
    <Frame label={label}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{none}</option>
          {!isKnown && value !== "" && <option value={value}>{value}</option>}
          {groups
            .filter(({ choices }) => choices.length > 0)
            .map(({ title, choices }) => (
              <optgroup key={title} label={title}>
                {choices.map((choice) => (
                  <option key={choice.value} value={choice.value}>
                    {choice.label}
                  </option>
                ))}
              </optgroup>
            ))}
        </select>
      )}
    </Frame>
  );
}
