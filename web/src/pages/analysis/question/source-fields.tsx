import type { ReactNode } from "react";
import type { Source } from "../../../../../src/contract/analysis/question.ts";
import type { KnownNames } from "../../../analysis/names.ts";
import { useTexts } from "../../../texts.ts";
import { SelectField } from "../../../ui/field.tsx";
import { SettledField } from "../../../ui/settled-field.tsx";
import { texts } from "../texts.ts";
import { ConditionRows } from "./condition-rows.tsx";
import { useFieldGroups } from "./field-select.tsx";
import { fieldTexts } from "./field-texts.ts";

type SourceFieldsProps = {
  source: Source;
  known: KnownNames;
  onChange: (source: Source) => void;
  /** What can be chosen. */
  of?: "events or orders" | "one event";
  /** Further fields in the same row. */
  children?: ReactNode;
};

/** Which events or orders: the event's name, and conditions. */
export function SourceFields({ source: given, known, onChange, of = "events or orders", children }: SourceFieldsProps) {
  const text = useTexts(texts);
  const { choose } = useTexts(fieldTexts);
  const { source, event, filter } = given;
  const groups = useFieldGroups(known, source === "order" ? "orders" : "no orders");
  const changed = (name: string | undefined, next: Source["filter"]): Source => ({
    source,
    ...(name !== undefined && { event: name }),
    ...(next !== undefined && { filter: next }),
  });
  return (
    <>
      <div className="row fields">
        {of === "events or orders" && (
          <SelectField
            label={text.source}
            value={source}
            choices={Object.entries(text.sources).map(([value, label]) => ({ value, label }))}
            // Fields of orders mean nothing for events: another source begins without conditions.
            onChange={(next) => onChange({ source: next as Source["source"] })}
          />
        )}
        {source === "event" && (
          <SettledField
            label={text.event}
            placeholder={of === "one event" ? choose : text.everyEvent}
            value={event ?? ""}
            suggestions={known.events.map((name) => ({ value: name, label: "" }))}
            onChange={(name) => onChange(changed(name.trim() || undefined, filter))}
          />
        )}
        {children}
      </div>
      <ConditionRows filter={filter} groups={groups} onChange={(next) => onChange(changed(event, next))} />
    </>
  );
}
