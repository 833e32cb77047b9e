import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { RulesBody, ShownRuleSettings } from "../../../../src/contract/setting/attribution-rule.ts";
import { post, queries } from "../../api.ts";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useMay } from "../../may.ts";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/failure.tsx";
import { SelectField } from "../../ui/field.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { say } from "../../ui/toast.tsx";
import { useUrlState } from "../../url-state.ts";
import {
  fieldsOf,
  isGood,
  isSame,
  RULE_GROUPS,
  type RuleDraft,
  rulesOf,
  setRules,
  withoutRules,
} from "./rule-draft.ts";
import { RuleTable } from "./rule-table.tsx";
import { texts } from "./texts.ts";
import { WhatIf } from "./what-if.tsx";
import "./attribution-rules.css";

const RULES = "attribution/rules";

export function AttributionRulesPage() {
  const text = useTexts(texts);
  const [{ platform }, change] = useUrlState({ platform: "" });
  const rules = useAppQuery<ShownRuleSettings>(RULES);
  return (
    <>
      <PageHead title={text.title} about={text.about} />
      <QueryView query={rules}>
        {(settings) => (
          <>
            <div className="row fields">
              <ScopeField settings={settings} platform={platform} onChange={(value) => change({ platform: value })} />
              <p className="soft grow">{platform === "" ? text.scopeAbout.app : text.scopeAbout.platform}</p>
            </div>
            {/* The key drops what was typed for another platform. */}
            <RuleForm key={platform} settings={settings} platform={platform} />
          </>
        )}
      </QueryView>
    </>
  );
}

type ScopeProps = { settings: ShownRuleSettings; platform: string; onChange: (platform: string) => void };

function ScopeField({ settings, platform, onChange }: ScopeProps) {
  const text = useTexts(texts);
  const own = settings.set.filter(({ ad_platform, rules }) => ad_platform !== "" && Object.keys(rules).length > 0);
  const names = own.map(({ ad_platform }) => ad_platform);
  // A link may name a platform that has no rules yet.
  const others = [...new Set([...settings.ad_platforms, ...(platform === "" ? [] : [platform])])];
  const choices = [
    { value: "", label: text.wholeApp },
    ...names.map((name) => ({ value: name, label: text.ownRules(name) })),
    ...others.filter((name) => !names.includes(name)).map((name) => ({ value: name, label: name })),
  ];
  return <SelectField label={text.scope} value={platform} choices={choices} onChange={onChange} />;
}

function RuleForm({ settings, platform }: { settings: ShownRuleSettings; platform: string }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const mayChange = useMay("setting");
  const saved = setRules(settings, platform);
  // Holds only what was typed here, so that a rule changed by another person is shown and kept.
  const [typed, setTyped] = useState<RuleDraft>({});
  const draft = { ...saved, ...typed };
  const saving = useMutation({
    mutationFn: () => {
      const body: RulesBody = { app_id, ad_platform: platform, rules: rulesOf(draft) };
      return post<ShownRuleSettings>(RULES, body);
    },
    onSuccess: (after) => {
      queries.setQueryData([RULES, app_id], after);
      // The server's spelling is shown from now on: 24h becomes 1d.
      setTyped({});
      say(text.saved);
    },
  });
  const isChanged = !isSame(draft, saved);
  const areGood = settings.fields.every((field) => isGood(field, draft[field.name] ?? ""));
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate();
      }}
    >
      {RULE_GROUPS.map((group) => {
        const fields = fieldsOf(settings, platform, group);
        if (fields.length === 0) return null;
        return (
          <section key={group} className="stack tight">
            <h2>{text.groups[group]}</h2>
            <RuleTable
              settings={settings}
              platform={platform}
              fields={fields}
              draft={draft}
              saved={saved}
              onChange={(changes) => setTyped({ ...typed, ...changes })}
            />
          </section>
        );
      })}
      <WhatIf settings={settings} platform={platform} draft={draft} isReady={areGood} />
      {saving.error && <Failure error={saving.error} />}
      {mayChange && (
        <div className={`row end save-bar ${isChanged ? "stuck" : ""}`}>
          {!isChanged && <span className="soft small">{text.unchanged}</span>}
          <Button disabled={Object.keys(rulesOf(draft)).length === 0} onClick={() => setTyped(withoutRules(draft))}>
            {text.clear}
          </Button>
          <Button type="submit" look="main" disabled={!isChanged || !areGood || saving.isPending}>
            {text.save}
          </Button>
        </div>
      )}
    </form>
  );
}
