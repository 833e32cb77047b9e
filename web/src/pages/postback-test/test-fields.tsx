import type { PostbackTestForm } from "../../../../src/contract/admin/postback-test.ts";
import { useApp } from "../../chosen-app.tsx";
import { useTexts } from "../../texts.ts";
import { Check, SelectField, TextField } from "../../ui/field.tsx";
import { useEventWords } from "../postbacks/event-texts.ts";
import { isAmount, type TestFieldsProps } from "./test-draft.ts";
import { texts } from "./texts.ts";

export function WhatFields({ draft, onChange }: TestFieldsProps) {
  const text = useTexts(texts);
  const words = useEventWords();
  const { currency } = useApp();
  return (
    <div className="form-pair account-fields">
      <SelectField
        label={text.eventType}
        value={draft.eventType}
        choices={Object.entries(words.eventTypes).map(([value, label]) => ({ value, label: `${label} · ${value}` }))}
        onChange={(eventType) => onChange({ eventType })}
      />
      <TextField
        label={text.code}
        hint={text.codeHint}
        value={draft.code}
        onChange={(code) => onChange({ code })}
        spellCheck={false}
      />
      <TextField
        label={text.amount(currency)}
        hint={text.amountHint}
        problem={isAmount(draft.amount) ? undefined : text.amountProblem}
        inputMode="decimal"
        value={draft.amount}
        onChange={(amount) => onChange({ amount })}
      />
    </div>
  );
}

type SourceFieldsProps = TestFieldsProps & { form: PostbackTestForm };

export function SourceFields({ draft, onChange, form }: SourceFieldsProps) {
  const text = useTexts(texts);
  return (
    <>
      <div className="form-pair">
        <SelectField
          label={text.of}
          value={draft.of}
          choices={[
            { value: "user", label: text.ofUser },
            { value: "click", label: text.ofClick },
          ]}
          onChange={(of) => onChange({ of: of === "click" ? "click" : "user" })}
        />
        {draft.of === "user" ? (
          <TextField
            label={text.client}
            hint={text.clientHint}
            value={draft.client}
            onChange={(client) => onChange({ client })}
            spellCheck={false}
            required
          />
        ) : (
          <SelectField
            label={text.key}
            value={draft.key}
            choices={form.keys.map((key) => ({ value: key, label: key }))}
            onChange={(key) => onChange({ key })}
          />
        )}
      </div>
      {draft.of === "click" && <ClickFields draft={draft} onChange={onChange} />}
      <MarkField draft={draft} onChange={onChange} form={form} />
    </>
  );
}

const ID_FIELDS = ["oaid", "imei", "android_id", "idfa", "ip", "ua", "wx_openid", "wx_unionid"];

function ClickFields({ draft, onChange }: TestFieldsProps) {
  const text = useTexts(texts);
  const changeDevice = (name: string, value: string) => onChange({ device: { ...draft.device, [name]: value } });
  return (
    <>
      <TextField
        label={text.keyValue(draft.key)}
        hint={text.keyHint}
        value={draft.keyValue}
        onChange={(keyValue) => onChange({ keyValue })}
        spellCheck={false}
      />
      <details className="account-defaults">
        <summary>{text.device}</summary>
        <div className="form-pair account-fields">
          <SelectField
            label={text.os}
            value={draft.device.os ?? ""}
            choices={[
              { value: "", label: text.anyOs },
              { value: "android", label: "Android" },
              { value: "ios", label: "iOS" },
              { value: "harmony", label: "HarmonyOS" },
            ]}
            onChange={(os) => changeDevice("os", os)}
          />
          {ID_FIELDS.map((name) => (
            <TextField
              key={name}
              label={name}
              value={draft.device[name] ?? ""}
              onChange={(value) => changeDevice(name, value)}
              spellCheck={false}
            />
          ))}
        </div>
      </details>
    </>
  );
}

function MarkField({ draft, onChange, form }: SourceFieldsProps) {
  const text = useTexts(texts);
  if (form.mark === "") return <p className="notice warn">{text.noMark}</p>;
  return (
    <div className="stack tight">
      <Check label={text.mark(form.mark)} checked={draft.isMarked} onChange={(isMarked) => onChange({ isMarked })} />
      <span className="soft small">{text.markHint}</span>
    </div>
  );
}
