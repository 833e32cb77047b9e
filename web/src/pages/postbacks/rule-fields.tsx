import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { useValueNames } from "../lists/value-names.ts";
import { useEventWords } from "./event-texts.ts";
import { PostbackPlatformField } from "./outbox-filters.tsx";
import { COUNTED, OWN_EVENT, RETENTION, type RuleDraft } from "./rule-draft.ts";
import { texts } from "./rule-texts.ts";

export type FieldsProps = { draft: RuleDraft; onChange: (changes: Partial<RuleDraft>) => void };

export function WhatFields({ draft, onChange }: FieldsProps) {
  const text = useTexts(texts).form;
  const words = useEventWords();
  return (
    <fieldset>
      <legend>{text.what}</legend>
      <div className="form-pair">
        <SelectField
          label={text.moment}
          value={draft.momentKind}
          choices={[
            ...Object.entries(words.moments).map(([value, label]) => ({ value, label })),
            { value: RETENTION, label: text.retention },
            { value: OWN_EVENT, label: text.ownEvent },
          ]}
          onChange={(momentKind) => onChange({ momentKind })}
        />
        {draft.momentKind === RETENTION && (
          <TextField
            label={text.retentionDays}
            inputMode="numeric"
            value={draft.retentionDays}
            onChange={(retentionDays) => onChange({ retentionDays })}
          />
        )}
        {draft.momentKind === OWN_EVENT && (
          <TextField
            label={text.eventName}
            value={draft.eventName}
            onChange={(eventName) => onChange({ eventName })}
            spellCheck={false}
            required
          />
        )}
        <SelectField
          label={text.eventType}
          value={draft.eventType}
          choices={Object.entries(words.eventTypes).map(([value, label]) => ({ value, label }))}
          onChange={(eventType) => onChange({ eventType })}
        />
      </div>
      <div className="form-pair">
        <PostbackPlatformField value={draft.platform} onChange={(platform) => onChange({ platform })} />
        <CampaignField value={draft.campaign} onChange={(campaign) => onChange({ campaign })} />
        {draft.platform !== "" && (
          <TextField
            label={text.code}
            hint={text.codeHint}
            value={draft.code}
            onChange={(code) => onChange({ code })}
            spellCheck={false}
          />
        )}
      </div>
    </fieldset>
  );
}

/** Offers campaigns by name, and takes any id. */
function CampaignField({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const text = useTexts(texts).form;
  const { campaign, campaignIds } = useValueNames();
  return (
    <TextField
      label={text.campaign}
      hint={text.campaignHint}
      value={value}
      onChange={onChange}
      suggestions={campaignIds.map((id) => ({ value: id, label: campaign(id) }))}
      spellCheck={false}
    />
  );
}

export function ConditionFields({ draft, onChange }: FieldsProps) {
  const text = useTexts(texts).form;
  const { currency } = useApp();
  const isCounted = COUNTED.includes(draft.momentKind);
  return (
    <fieldset>
      <legend>{text.conditions}</legend>
      <div className="form-pair">
        {isCounted && (
          <Bounds
            label={text.amount(currency)}
            from={draft.amountFrom}
            to={draft.amountTo}
            onChange={(amountFrom, amountTo) => onChange({ amountFrom, amountTo })}
          />
        )}
        {isCounted && (
          <Bounds
            label={text.count}
            from={draft.countFrom}
            to={draft.countTo}
            onChange={(countFrom, countTo) => onChange({ countFrom, countTo })}
          />
        )}
        <Bounds
          label={text.daysSinceTouch}
          from={draft.daysFrom}
          to={draft.daysTo}
          onChange={(daysFrom, daysTo) => onChange({ daysFrom, daysTo })}
        />
      </div>
      <div className="form-pair">
        <TextField
          label={text.share}
          hint={text.shareHint}
          inputMode="decimal"
          value={draft.share}
          onChange={(share) => onChange({ share })}
        />
        <TextField
          label={text.window}
          inputMode="numeric"
          value={draft.window}
          onChange={(window) => onChange({ window })}
        />
      </div>
      <TextArea
        label={text.properties}
        hint={text.propertiesHint}
        rows={2}
        value={draft.properties}
        onChange={(properties) => onChange({ properties })}
        spellCheck={false}
      />
    </fieldset>
  );
}

type BoundsProps = { label: string; from: string; to: string; onChange: (from: string, to: string) => void };

function Bounds({ label, from, to, onChange }: BoundsProps) {
  const text = useTexts(texts).form;
  const input = (name: string, value: string, onType: (value: string) => void) => (
    <input
      className="input"
      aria-label={`${label}, ${name}`}
      placeholder={name}
      inputMode="decimal"
      value={value}
      onChange={(event) => onType(event.target.value)}
    />
  );
  return (
    <div className="field">
      <span className="label" aria-hidden>
        {label}
      </span>
      <div className="bounds">
        {input(text.from, from, (next) => onChange(next, to))}
        {input(text.to, to, (next) => onChange(from, next))}
      </div>
    </div>
  );
}

export function ValueFields({ draft, onChange }: FieldsProps) {
  const text = useTexts(texts).form;
  const { currency } = useApp();
  return (
    <div className="form-pair">
      <SelectField
        label={text.value}
        value={draft.valueKind}
        choices={[
          { value: "as-is", label: text.asIs },
          { value: "fixed", label: text.fixed },
          { value: "factor", label: text.factor },
        ]}
        onChange={(kind) => onChange({ valueKind: kind as RuleDraft["valueKind"] })}
      />
      {draft.valueKind === "fixed" && (
        <TextField
          label={text.fixedAmount(currency)}
          inputMode="decimal"
          value={draft.fixed}
          onChange={(fixed) => onChange({ fixed })}
        />
      )}
      {draft.valueKind === "factor" && (
        <TextField
          label={text.factorLabel}
          inputMode="decimal"
          value={draft.factor}
          onChange={(factor) => onChange({ factor })}
        />
      )}
      {draft.valueKind === "factor" && (
        <TextField
          label={text.cap(currency)}
          inputMode="decimal"
          value={draft.cap}
          onChange={(cap) => onChange({ cap })}
        />
      )}
    </div>
  );
}
