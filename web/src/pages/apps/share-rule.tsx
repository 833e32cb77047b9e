import type { ShownShareRule } from "../../../../src/contract/setting/share.ts";
import { useDimensionValue } from "../../report/dimension-value.ts";
import { useTexts } from "../../texts.ts";
import { SelectField, TextField } from "../../ui/field.tsx";
import { texts } from "./share-texts.ts";

/** A rule in the form; `id` is only its React key. */
export type Draft = {
  id: number;
  os: string;
  channel: string;
  method: string;
  virtual: "" | "yes" | "no";
  from: string;
  to: string;
  percent: string;
};

const SYSTEMS = ["", "android", "ios", "harmony", "unknown"];

let lastId = 0;

export function newDraft(): Draft {
  lastId += 1;
  return { id: lastId, os: "", channel: "", method: "", virtual: "", from: "", to: "", percent: "" };
}

export function draftOf(rule: ShownShareRule): Draft {
  return {
    ...newDraft(),
    os: rule.os_platform,
    channel: rule.channel,
    method: rule.pay_method,
    virtual: rule.is_virtual === null ? "" : rule.is_virtual ? "yes" : "no",
    from: rule.start_date,
    to: rule.end_date,
    percent: String(Math.round(rule.share * 10_000) / 100),
  };
}

export function ruleOf({ os, channel, method, virtual, from, to, percent }: Draft): ShownShareRule {
  return {
    os_platform: os,
    channel: channel.trim(),
    pay_method: method.trim(),
    is_virtual: virtual === "" ? null : virtual === "yes",
    start_date: from,
    end_date: to,
    share: Math.round(Number(percent) * 100) / 10_000,
  };
}

export function isGoodDraft({ percent }: Draft): boolean {
  return /^\d{1,3}(?:\.\d{1,2})?$/.test(percent) && Number(percent) <= 100;
}

type RuleFieldsProps = { draft: Draft; onChange: (part: Partial<Draft>) => void };

export function RuleFields({ draft, onChange }: RuleFieldsProps) {
  const text = useTexts(texts);
  const valueText = useDimensionValue();
  const systems = SYSTEMS.map((value) => ({
    value,
    label: value === "" ? text.any : valueText("os_platform", value),
  }));
  return (
    <div className="form-pair">
      <SelectField label={text.os} value={draft.os} choices={systems} onChange={(os) => onChange({ os })} />
      <TextField
        label={text.channel}
        hint={text.channelHint}
        value={draft.channel}
        onChange={(channel) => onChange({ channel })}
        spellCheck={false}
      />
      <TextField
        label={text.method}
        hint={text.methodHint}
        value={draft.method}
        onChange={(method) => onChange({ method })}
        spellCheck={false}
      />
      <SelectField
        label={text.virtual}
        hint={text.virtualHint}
        value={draft.virtual}
        choices={(["", "yes", "no"] as const).map((value) => ({ value, label: text[value || "any"] }))}
        onChange={(virtual) => onChange({ virtual: virtual as Draft["virtual"] })}
      />
      <TextField
        label={text.from}
        hint={text.fromHint}
        type="date"
        value={draft.from}
        onChange={(from) => onChange({ from })}
      />
      <TextField label={text.to} hint={text.toHint} type="date" value={draft.to} onChange={(to) => onChange({ to })} />
      <TextField
        label={text.share}
        problem={isGoodDraft(draft) ? undefined : text.shareProblem}
        value={draft.percent}
        onChange={(percent) => onChange({ percent })}
        inputMode="decimal"
      />
    </div>
  );
}
