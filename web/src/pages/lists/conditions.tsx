import { useState } from "react";
import type { ListFields } from "../../../../src/contract/admin/admin-list.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField, TextField } from "../../ui/field.tsx";
import type { Condition } from "./list-state.ts";
import { TagsField } from "./tags-field.tsx";
import { texts } from "./texts.ts";
import { typedText, typedValue } from "./typed-value.ts";

type ConditionsProps = {
  fields: Pick<ListFields, "properties" | "operators">;
  conditions: readonly Condition[];
  onChange: (conditions: readonly Condition[]) => void;
};

/** Conditions on properties of the user and of the order. A row without a property is not yet a condition. */
export function Conditions({ fields, conditions, onChange }: ConditionsProps) {
  const text = useTexts(texts);
  const suggestions = fields.properties.map(({ field }) => ({ value: field, label: field }));
  const replace = (at: number, next: Condition) =>
    onChange(conditions.map((one, index) => (index === at ? next : one)));
  return (
    <div className="stack tight">
      {conditions.map((condition, index) => (
        <div key={index} className="condition">
          <TextField
            label={text.field}
            suggestions={suggestions}
            placeholder="user$level"
            value={condition.field}
            onChange={(field) => replace(index, { ...condition, field: field.trim() })}
          />
          <SelectField
            label={text.operator}
            value={condition.operator}
            choices={fields.operators.map((name) => ({ value: name, label: text.operators[name] }))}
            onChange={(operator) =>
              replace(index, { field: condition.field, operator: operator as Condition["operator"] })
            }
          />
          <Values
            condition={condition}
            type={fields.properties.find(({ field }) => field === condition.field)?.type ?? "any"}
            onChange={(values) => replace(index, { ...condition, values })}
          />
          <Button
            look="quiet"
            size="small"
            aria-label={`${text.remove} ${condition.field}`}
            onClick={() => onChange(conditions.filter((_, at) => at !== index))}
          >
            ×
          </Button>
        </div>
      ))}
      <div className="row">
        <Button size="small" onClick={() => onChange([...conditions, { field: "", operator: "equal" }])}>
          {text.addCondition}
        </Button>
        {conditions.length > 0 && <span className="soft small">{text.valueHint}</span>}
      </div>
    </div>
  );
}

type ValuesProps = { condition: Condition; type: string; onChange: (values: unknown[]) => void };

function Values({ condition: { operator, values = [] }, type, onChange }: ValuesProps) {
  const text = useTexts(texts);
  switch (operator) {
    case "is_set":
    case "not_set":
      return null;
    case "equal":
    case "not_equal":
      return <ValueField label={text.value} value={values[0]} type={type} onChange={(value) => onChange([value])} />;
    case "between":
      return (
        <>
          <ValueField
            label={text.from}
            value={values[0]}
            type={type}
            onChange={(value) => onChange([value, values[1] ?? ""])}
          />
          <ValueField
            label={text.until}
            value={values[1]}
            type={type}
            onChange={(value) => onChange([values[0] ?? "", value])}
          />
        </>
      );
    case "inner":
      return (
        <TagsField
          label={text.value}
          values={values.map((value) => typedText(value, type))}
          onChange={(typed) => onChange(typed.map((one) => typedValue(one, type)))}
        />
      );
  }
}

type ValueFieldProps = { label: string; value: unknown; type: string; onChange: (value: unknown) => void };

/** The typed text is kept while it means the same value: 1.0, typed on the way to 1.05, must not turn into 1. */
function ValueField({ label, value, type, onChange }: ValueFieldProps) {
  const [typed, setTyped] = useState("");
  const shown = typedValue(typed, type) === value ? typed : typedText(value, type);
  return (
    <TextField
      label={label}
      value={shown}
      onChange={(next) => {
        setTyped(next);
        onChange(typedValue(next, type));
      }}
    />
  );
}
