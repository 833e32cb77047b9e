import type { Condition, Filter, Join, Operator } from "../../../../../src/contract/analysis/condition.ts";
import { useTexts } from "../../../texts.ts";
import { Button } from "../../../ui/button.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { SettledField } from "../../../ui/settled-field.tsx";
import { TagsField } from "../../lists/tags-field.tsx";
import { type Conditions, conditionsOf, valueForm } from "../state.ts";
import { type FieldGroup, FieldSelect, fieldLabel } from "./field-select.tsx";
import { fieldTexts } from "./field-texts.ts";

type ConditionRowsProps = {
  filter: Filter | undefined;
  groups: readonly FieldGroup[];
  onChange: (filter: Filter | undefined) => void;
};

/** The conditions of a series, joined by and or by or. */
export function ConditionRows({ filter, groups, onChange }: ConditionRowsProps) {
  const text = useTexts(fieldTexts);
  const conditions = conditionsOf(filter);
  const { join, parts } = conditions;
  const change = (changes: Partial<Conditions>) => {
    const next = { ...conditions, ...changes };
    onChange(next.parts.length === 0 ? undefined : next);
  };
  const remove = (at: number) => change({ parts: parts.filter((_, index) => index !== at) });
  return (
    <div className="stack tight">
      {parts.map((part, index) => (
        <div key={index} className="condition">
          {"join" in part ? (
            <code className="nested-condition" title={text.nested}>
              {JSON.stringify(part)}
            </code>
          ) : (
            <ConditionRow
              condition={part}
              groups={groups}
              onChange={(next) => change({ parts: parts.map((one, at) => (at === index ? next : one)) })}
            />
          )}
          <Button
            look="quiet"
            size="small"
            aria-label={text.removeCondition("join" in part ? text.nested : fieldLabel(groups, part.field))}
            onClick={() => remove(index)}
          >
            ×
          </Button>
        </div>
      ))}
      <div className="row">
        <Button
          size="small"
          onClick={() => change({ parts: [...parts, { field: "", operator: "equal", values: [] }] })}
        >
          {text.addCondition}
        </Button>
        {parts.length > 1 && (
          <div className="named-beside">
            <SelectField
              label={text.join}
              value={join}
              choices={(["and", "or"] as const).map((value) => ({ value, label: text.joins[value] }))}
              onChange={(value) => change({ join: value as Join })}
            />
          </div>
        )}
      </div>
    </div>
  );
}

type RowProps = { condition: Condition; groups: readonly FieldGroup[]; onChange: (condition: Condition) => void };

export function ConditionRow({ condition, groups, onChange }: RowProps) {
  const text = useTexts(fieldTexts);
  const { operator, values = [] } = condition;
  const changeOperator = (next: Operator) => {
    const isSameForm = valueForm(next) === valueForm(operator);
    onChange({ ...condition, operator: next, values: isSameForm ? values : [] });
  };
  return (
    <>
      <FieldSelect
        label={text.field}
        value={condition.field}
        groups={groups}
        none={text.choose}
        onChange={(field) => onChange({ ...condition, field })}
      />
      <SelectField
        label={text.operator}
        value={operator}
        choices={Object.entries(text.operators).map(([value, label]) => ({ value, label }))}
        onChange={(next) => changeOperator(next as Operator)}
      />
      <Values operator={operator} values={values} onChange={(next) => onChange({ ...condition, values: next })} />
    </>
  );
}

type ValuesProps = {
  operator: Operator;
  values: readonly (string | number)[];
  onChange: (values: readonly (string | number)[]) => void;
};

/** Texts are compared with the text of a field, numbers only with numbers; see docs/API.md. */
function Values({ operator, values, onChange }: ValuesProps) {
  const text = useTexts(fieldTexts);
  const [first = "", last = ""] = values.map(String);
  switch (valueForm(operator)) {
    case "none":
      return null;
    case "texts":
      return <TagsField label={text.values} values={values.map(String)} onChange={onChange} />;
    case "number":
      return (
        <SettledField
          label={text.number}
          inputMode="decimal"
          value={first}
          onChange={(typed) => onChange(isNumber(typed) ? [Number(typed)] : [])}
        />
      );
    case "ends":
      return (
        <>
          <SettledField label={text.from} value={first} onChange={(typed) => onChange(endsOf(typed, last))} />
          <SettledField label={text.until} value={last} onChange={(typed) => onChange(endsOf(first, typed))} />
        </>
      );
  }
}

/** Two numbers, or else two texts. */
function endsOf(from: string, until: string): (string | number)[] {
  return isNumber(from) && isNumber(until) ? [Number(from), Number(until)] : [from, until];
}

function isNumber(typed: string): boolean {
  return typed.trim() !== "" && Number.isFinite(Number(typed));
}
