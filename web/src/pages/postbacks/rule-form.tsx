import { useState } from "react";
import type { PostbackRule } from "../../../../src/contract/setting/postback.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { ChangeDialog } from "../../ui/change-dialog.tsx";
import { Check } from "../../ui/field.tsx";
import { DryRunPanel } from "./dry-run.tsx";
import { draftOf, fieldsOf, NEW_RULE, type RuleDraft } from "./rule-draft.ts";
import { ConditionFields, ValueFields, WhatFields } from "./rule-fields.tsx";
import { RULES } from "./rule-query.ts";
import { texts } from "./rule-texts.ts";

/** Creates a rule unless one is given. */
export function RuleForm({ rule, onClose }: { rule?: PostbackRule; onClose: () => void }) {
  const text = useTexts(texts);
  const app = useApp();
  const [draft, setDraft] = useState<RuleDraft>(rule ? draftOf(rule) : NEW_RULE);
  const change = (changes: Partial<RuleDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const key = rule && { rule_id: rule.rule_id };
  return (
    <ChangeDialog
      title={rule ? text.form.edit(rule.rule_id) : text.form.create}
      width="wide"
      submit={{ label: text.form.submit }}
      ask={() => post(`postback/rules/${rule ? "edit" : "create"}`, { app_id: app.app_id, ...key, ...fieldsOf(draft) })}
      stale={[[RULES]]}
      said={() => text.saved}
      onClose={onClose}
    >
      <div className="stack rule-form">
        <WhatFields draft={draft} onChange={change} />
        <ConditionFields draft={draft} onChange={change} />
        <ValueFields draft={draft} onChange={change} />
        <Check label={text.form.enabled} checked={draft.enabled} onChange={(enabled) => change({ enabled })} />
        <fieldset>
          <legend>{text.dryRun.section}</legend>
          <DryRunPanel given={{ ...key, ...fieldsOf(draft) }} />
        </fieldset>
      </div>
    </ChangeDialog>
  );
}
