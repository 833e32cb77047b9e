import { type ReactNode, useState } from "react";
import type { ListFields, ListName } from "../../../../src/contract/admin/admin-list.ts";
import { SegmentSelect } from "../../analysis/saved-segments.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Conditions } from "./conditions.tsx";
import { FilterControl } from "./filter-field.tsx";
import { type FilterField, type Filters, type FilterValue, NO_FILTERS } from "./list-state.ts";
import { texts } from "./texts.ts";

type FilterDialogProps = {
  list: ListName;
  fields: ListFields;
  filters: Filters;
  onApply: (filters: Filters) => void;
  onClose: () => void;
};

/** All filters of the list. They are applied together. */
export function FilterDialog({ list, fields, filters, onApply, onClose }: FilterDialogProps) {
  const text = useTexts(texts);
  const [draft, setDraft] = useState(filters);
  /** Part of the fields' keys, so that a reset also clears what was typed into them. */
  const [round, setRound] = useState(0);
  const setIn = (part: "user" | "event") => (name: string, value: FilterValue | undefined) =>
    setDraft((before) => ({ ...before, [part]: changed(before[part], name, value) }));
  return (
    <Dialog title={text.filter} onClose={onClose} width="wide">
      <form
        key={round}
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onApply({ ...draft, conditions: draft.conditions.filter(({ field }) => field !== "") });
        }}
      >
        <Group title={list === "orders" ? text.ofOrder : text.ofPostback}>
          <Controls fields={fields.event_filters} values={draft.event} onChange={setIn("event")} />
        </Group>
        <Group title={text.ofUser}>
          <SegmentSelect
            value={draft.segment}
            hint={text.segmentHint}
            onChange={(segment) => setDraft((before) => ({ ...before, segment }))}
          />
          <Controls fields={fields.user_filters} values={draft.user} onChange={setIn("user")} />
        </Group>
        <p className="soft small">{text.severalHint}</p>
        <section className="stack tight">
          <h3>{text.ofProperties}</h3>
          <Conditions
            fields={fields}
            conditions={draft.conditions}
            onChange={(conditions) => setDraft((before) => ({ ...before, conditions }))}
          />
        </section>
        <div className="row apart filter-actions">
          <Button
            look="quiet"
            onClick={() => {
              setDraft(NO_FILTERS);
              setRound(round + 1);
            }}
          >
            {text.reset}
          </Button>
          <span className="row">
            <Button onClick={onClose}>{text.close}</Button>
            <Button type="submit" look="main">
              {text.apply}
            </Button>
          </span>
        </div>
      </form>
    </Dialog>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="stack tight">
      <h3>{title}</h3>
      <div className="filter-grid">{children}</div>
    </section>
  );
}

type ControlsProps = {
  fields: readonly FilterField[];
  values: Readonly<Record<string, FilterValue>>;
  onChange: (name: string, value: FilterValue | undefined) => void;
};

function Controls({ fields, values, onChange }: ControlsProps) {
  return fields.map((field) => (
    <FilterControl
      key={field.name}
      field={field}
      value={values[field.name]}
      onChange={(value) => onChange(field.name, value)}
    />
  ));
}

/** The values with one filter changed; an unset filter is removed. */
export function changed(
  values: Readonly<Record<string, FilterValue>>,
  name: string,
  value: FilterValue | undefined,
): Readonly<Record<string, FilterValue>> {
  const { [name]: _before, ...rest } = values;
  return value === undefined ? rest : { ...rest, [name]: value };
}
