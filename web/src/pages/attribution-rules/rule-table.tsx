import type { ShownRuleField, ShownRuleSettings } from "../../../../src/contract/setting/attribution-rule.ts";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { fallbackOf, isGood, type RuleDraft } from "./rule-draft.ts";
import { texts } from "./texts.ts";

type RuleTableProps = {
  settings: ShownRuleSettings;
  platform: string;
  fields: readonly ShownRuleField[];
  draft: RuleDraft;
  saved: RuleDraft;
  onChange: (changes: RuleDraft) => void;
};

/** The meaning, the fallback and the value of each rule. */
export function RuleTable({ settings, platform, fields, draft, saved, onChange }: RuleTableProps) {
  const text = useTexts(texts);
  const columns: Column<ShownRuleField>[] = [
    {
      name: "rule",
      title: text.columns.rule,
      cell: ({ name, hint }) => (
        <div className="rule-words">
          <strong>{text.rules[name]?.label ?? name}</strong> <code className="soft">{name}</code>
          <div className="soft">{text.rules[name]?.about ?? hint}</div>
        </div>
      ),
    },
    {
      name: "fallback",
      title: text.columns.fallback,
      cell: (field) => {
        const { from, value } = fallbackOf(settings, platform, field.name);
        return (
          <div className="rule-fallback">
            <ValueText field={field} value={value} />
            <div className="soft small">{text.fallback[from]}</div>
          </div>
        );
      },
    },
    {
      name: "value",
      title: text.columns.value,
      cell: (field) => (
        <div className="rule-value named-beside">
          <ValueField
            field={field}
            value={draft[field.name] ?? ""}
            onChange={(value) => onChange({ [field.name]: value })}
          />
          {(draft[field.name] ?? "") !== (saved[field.name] ?? "") && <Badge tone="accent">{text.changed}</Badge>}
        </div>
      ),
    },
  ];
  return <DataTable label={text.title} columns={columns} rows={fields} keyOf={({ name }) => name} />;
}

function ValueText({ field, value }: { field: ShownRuleField; value: string }) {
  const text = useTexts(texts);
  if (field.takes === "switch") return value === "on" ? text.on : text.off;
  return value === "" ? text.none : value;
}

type ValueFieldProps = { field: ShownRuleField; value: string; onChange: (value: string) => void };

function ValueField({ field, value, onChange }: ValueFieldProps) {
  const text = useTexts(texts);
  const isDisabled = !useMay("setting");
  const label = text.rules[field.name]?.label ?? field.name;
  const good = isGood(field, value);
  const typed = { label, value, onChange, placeholder: text.notSet, disabled: isDisabled };
  switch (field.takes) {
    case "switch": {
      const choices = [
        { value: "", label: text.notSet },
        { value: "on", label: text.on },
        { value: "off", label: text.off },
      ];
      return <SelectField label={label} value={value} choices={choices} onChange={onChange} disabled={isDisabled} />;
    }
    case "networks":
      return <TextArea label={label} value={value} onChange={onChange} disabled={isDisabled} rows={2} />;
    case "duration":
      return <TextField {...typed} problem={good ? undefined : text.durationProblem} title={text.durationHint} />;
    case "count":
      return <TextField {...typed} problem={good ? undefined : text.countProblem} inputMode="numeric" />;
  }
}
