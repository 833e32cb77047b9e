import type { ListFields } from "../../../../src/contract/admin/admin-list.ts";
import { useSegmentName } from "../../analysis/saved-segments.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { changed } from "./filter-dialog.tsx";
import { labelOf } from "./filter-field.tsx";
import { countOf, type Filters, NO_FILTERS } from "./list-state.ts";
import { texts } from "./texts.ts";
import { useValueNames } from "./value-names.ts";
import { conditionText, valueText } from "./value-text.ts";

type ChipsProps = { fields: ListFields; filters: Filters; onChange: (filters: Filters) => void };

/** The active filters in words; each can be removed. */
export function Chips({ fields, filters, onChange }: ChipsProps) {
  const text = useTexts(texts);
  const format = useFormat();
  const names = useValueNames();
  const segmentName = useSegmentName();
  if (countOf(filters) === 0) return null;
  const of = (part: "user" | "event") =>
    fields[`${part}_filters`].flatMap((field) => {
      const value = filters[part][field.name];
      if (value === undefined) return [];
      const without = { ...filters, [part]: changed(filters[part], field.name, undefined) };
      return [
        <Chip
          key={`${part} ${field.name}`}
          name={labelOf(text.filters, field.name)}
          value={valueText(field, value, { text, format, names })}
          onRemove={() => onChange(without)}
        />,
      ];
    });
  return (
    <ul className="chips">
      {of("event")}
      {of("user")}
      {filters.segment !== "" && (
        <Chip
          name={text.segment}
          value={segmentName(filters.segment)}
          onRemove={() => onChange({ ...filters, segment: "" })}
        />
      )}
      {filters.conditions.map((condition, index) => (
        <Chip
          key={conditionText(condition, text)}
          name=""
          value={conditionText(condition, text)}
          onRemove={() => onChange({ ...filters, conditions: filters.conditions.filter((_, at) => at !== index) })}
        />
      ))}
      <li>
        <Button look="quiet" size="small" onClick={() => onChange(NO_FILTERS)}>
          {text.clear}
        </Button>
      </li>
    </ul>
  );
}

function Chip({ name, value, onRemove }: { name: string; value: string; onRemove: () => void }) {
  const text = useTexts(texts);
  return (
    <li className="tag">
      <span>
        {name && <span className="soft">{name}: </span>}
        {value}
      </span>
      <button type="button" aria-label={text.removeFilter(name || value)} onClick={onRemove}>
        ×
      </button>
    </li>
  );
}
