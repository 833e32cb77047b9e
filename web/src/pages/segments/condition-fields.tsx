import type {
  Comparison,
  Did,
  DidNot,
  Registered,
  SegmentCondition,
  UserTest,
  Within,
} from "../../../../src/contract/analysis/segment.ts";
import { useKnownNames } from "../../analysis/known-names.ts";
import { useTexts } from "../../texts.ts";
import { SelectField } from "../../ui/field.tsx";
import { SettledField } from "../../ui/settled-field.tsx";
import { ConditionRow } from "../analysis/question/condition-rows.tsx";
import { useFieldGroups } from "../analysis/question/field-select.tsx";
import { NumberSelect } from "../analysis/question/number-select.tsx";
import { SourceFields } from "../analysis/question/source-fields.tsx";
import { COMPARISONS, KINDS, type Kind, MEASURES, newCondition, valuesOf } from "./state.ts";
import { texts } from "./texts.ts";
import { WithinFields } from "./within-fields.tsx";

type Editable = Exclude<SegmentCondition, { kind: "saved" }>;
type FieldsProps<Condition> = { condition: Condition; onChange: (condition: SegmentCondition) => void };

/** One condition: what kind it is, and what that asks for. */
export function ConditionFields({ condition, onChange }: FieldsProps<Editable>) {
  const text = useTexts(texts);
  return (
    <>
      <div className="row fields">
        <SelectField
          label={text.kind}
          value={condition.kind}
          choices={KINDS.map((value) => ({ value, label: text.kinds[value] }))}
          onChange={(kind) => onChange(turnedInto(kind as Kind, condition))}
        />
        {condition.kind !== "user" && (
          <WithinFields within={condition} onChange={(within) => onChange({ ...withoutDays(condition), ...within })} />
        )}
      </div>
      {condition.kind === "did" && <DidFields condition={condition} onChange={onChange} />}
      {condition.kind === "did_not" && <DidNotFields condition={condition} onChange={onChange} />}
      {condition.kind === "user" && <UserFields condition={condition} onChange={onChange} />}
    </>
  );
}

/** A condition of another kind, about the same events and days where it has any. */
function turnedInto(kind: Kind, before: Editable): SegmentCondition {
  const made = newCondition(kind);
  if (made.kind === "user" || made.kind === "saved" || before.kind === "user") return made;
  const days = daysOf(before);
  if (made.kind === "registered" || before.kind === "registered") return { ...made, ...days };
  const { source, event, filter } = before;
  const same = { source, ...(event !== undefined && { event }), ...(filter !== undefined && { filter }) };
  return { ...made, ...same, ...days };
}

function daysOf({ date_list, last_days }: Within): Within {
  return { ...(date_list && { date_list }), ...(last_days !== undefined && { last_days }) };
}

function withoutDays<Condition extends Did | DidNot | Registered>(condition: Condition): Condition {
  const { date_list: _days, last_days: _last, ...rest } = condition;
  return rest as Condition;
}

function DidFields({ condition, onChange }: FieldsProps<Did>) {
  const text = useTexts(texts);
  const known = useKnownNames();
  const { property, amount, ...counted } = condition;
  const number = { ...(property !== undefined && { property }), ...(amount !== undefined && { amount }) };
  const { event: _event, filter: _filter, ...unsourced } = counted;
  return (
    <SourceFields
      source={condition}
      known={known}
      // A number of orders means nothing for events.
      onChange={(next) => onChange({ ...unsourced, ...next, ...(next.source === condition.source && number) })}
    >
      <SelectField
        label={text.measure}
        value={condition.measure}
        choices={MEASURES.map((value) => ({ value, label: text.measures[value] }))}
        onChange={(measure) => onChange({ ...condition, measure: measure as Did["measure"] })}
      />
      {condition.measure === "sum" && (
        <NumberSelect
          source={condition.source}
          number={number}
          known={known}
          onChange={(next) => onChange({ ...counted, ...next })}
        />
      )}
      <Comparing condition={condition} onChange={onChange} />
    </SourceFields>
  );
}

function Comparing({ condition, onChange }: FieldsProps<Did>) {
  const text = useTexts(texts);
  const { operator, values } = condition;
  const [first, last] = values;
  const type = (at: number, typed: string) => {
    const next = typed.trim() === "" ? Number.NaN : Number(typed);
    const all = [first, last].slice(0, valuesOf(operator)).map((value, index) => (index === at ? next : value));
    onChange({
      ...condition,
      values: all.filter((value) => value !== undefined && Number.isFinite(value)) as number[],
    });
  };
  return (
    <>
      <SelectField
        label={text.compare}
        value={operator}
        choices={COMPARISONS.map((value) => ({ value, label: text.comparisons[value] }))}
        onChange={(next) => {
          const count = valuesOf(next as Comparison);
          onChange({ ...condition, operator: next as Comparison, values: [...values, ...values].slice(0, count) });
        }}
      />
      <SettledField
        label={text.value}
        inputMode="decimal"
        value={String(first ?? "")}
        onChange={(typed) => type(0, typed)}
      />
      {operator === "between" && (
        <SettledField
          label={text.until}
          inputMode="decimal"
          value={String(last ?? "")}
          onChange={(typed) => type(1, typed)}
        />
      )}
    </>
  );
}

function DidNotFields({ condition, onChange }: FieldsProps<DidNot>) {
  const { kind } = condition;
  return (
    <SourceFields
      source={condition}
      known={useKnownNames()}
      onChange={(next) => onChange({ kind, ...next, ...daysOf(condition) })}
    />
  );
}

function UserFields({ condition, onChange }: FieldsProps<UserTest>) {
  const groups = useFieldGroups(useKnownNames(), "users");
  return (
    <div className="condition">
      <ConditionRow condition={condition} groups={groups} onChange={(next) => onChange({ kind: "user", ...next })} />
    </div>
  );
}
