import { useTexts } from "../../texts.ts";
import { SelectField, TextArea, TextField } from "../../ui/field.tsx";
import { CALLBACK, type DraftProps, declarationOf, HASHES } from "./connector-draft.ts";
import { texts } from "./texts.ts";

/** Where a call goes, and what it holds. */
export function CallFields({ draft, onChange }: DraftProps) {
  const text = useTexts(texts).form;
  return (
    <>
      <div className="form-pair">
        <TextField
          label={text.url}
          hint={text.urlHint}
          value={draft.url}
          onChange={(url) => onChange({ url })}
          spellCheck={false}
          required
        />
        {draft.url.trim() === CALLBACK && (
          <TextField
            label={text.hosts}
            hint={text.hostsHint}
            value={draft.hosts}
            onChange={(hosts) => onChange({ hosts })}
            spellCheck={false}
          />
        )}
        <SelectField
          label={text.method}
          value={draft.method}
          choices={["GET", "POST"].map((value) => ({ value, label: value }))}
          onChange={(method) => onChange(method === "GET" ? { method, bodyKind: "none" } : { method })}
        />
      </div>
      <Lines
        label={text.query}
        hint={text.linesHint}
        value={draft.query}
        onChange={(query) => onChange({ query })}
        rows={4}
      />
      <Lines label={text.headers} value={draft.headers} onChange={(headers) => onChange({ headers })} rows={2} />
      {draft.method === "POST" && <BodyFields draft={draft} onChange={onChange} />}
    </>
  );
}

function BodyFields({ draft, onChange }: DraftProps) {
  const text = useTexts(texts).form;
  const isWrong = draft.bodyKind === "json" && declarationOf(draft) === undefined;
  return (
    <>
      <SelectField
        label={text.bodyKind}
        value={draft.bodyKind}
        choices={(["none", "form", "json"] as const).map((value) => ({ value, label: text.bodyKinds[value] }))}
        onChange={(kind) => onChange({ bodyKind: kind === "form" || kind === "json" ? kind : "none" })}
      />
      {draft.bodyKind !== "none" && (
        <Lines
          label={text.body}
          hint={draft.bodyKind === "json" ? text.jsonHint : text.linesHint}
          problem={isWrong ? text.jsonProblem : undefined}
          value={draft.body}
          onChange={(body) => onChange({ body })}
          rows={8}
        />
      )}
    </>
  );
}

export function SignFields({ draft, onChange }: DraftProps) {
  const text = useTexts(texts).form;
  return (
    <details className="connector-more" open={draft.hash !== ""}>
      <summary>{text.sign}</summary>
      <div className="form-pair">
        <SelectField
          label={text.hash}
          value={draft.hash}
          choices={HASHES.map((value) => ({ value, label: value || text.noSign }))}
          onChange={(hash) => onChange({ hash })}
        />
        <SelectField
          label={text.letters}
          value={draft.letters}
          choices={(["lower", "upper"] as const).map((value) => ({ value, label: text.letterCases[value] }))}
          onChange={(letters) => onChange({ letters })}
        />
        <TextField
          label={text.signOf}
          hint={text.signOfHint}
          value={draft.signOf}
          onChange={(signOf) => onChange({ signOf })}
          spellCheck={false}
        />
        {draft.hash.startsWith("hmac_") && (
          <TextField
            label={text.signKey}
            value={draft.signKey}
            onChange={(signKey) => onChange({ signKey })}
            spellCheck={false}
          />
        )}
      </div>
    </details>
  );
}

export function CodeFields({ draft, onChange }: DraftProps) {
  const text = useTexts(texts).form;
  return (
    <div className="form-pair">
      <Lines
        label={text.codes}
        hint={text.codesHint}
        value={draft.codes}
        onChange={(codes) => onChange({ codes })}
        rows={4}
      />
      <Lines
        label={text.account}
        hint={text.accountHint}
        value={draft.account}
        onChange={(account) => onChange({ account })}
        rows={4}
      />
    </div>
  );
}

/** How the platform's answer is read. */
export function AnswerFields({ draft, onChange }: DraftProps) {
  const text = useTexts(texts).form;
  return (
    <div className="form-pair">
      <SelectField
        label={text.success}
        value={draft.successKind}
        choices={(["field", "text", "status"] as const).map((value) => ({ value, label: text.successKinds[value] }))}
        onChange={(successKind) => onChange({ successKind })}
      />
      {draft.successKind === "field" && (
        <TextField
          label={text.field}
          hint={text.fieldHint}
          value={draft.field}
          onChange={(field) => onChange({ field })}
          spellCheck={false}
        />
      )}
      {draft.successKind !== "status" && (
        <TextField
          label={text.accepted}
          hint={text.listHint}
          value={draft.accepted}
          onChange={(accepted) => onChange({ accepted })}
          spellCheck={false}
        />
      )}
      {draft.successKind === "field" && (
        <>
          <TextField
            label={text.refused}
            hint={text.refusedHint}
            value={draft.refused}
            onChange={(refused) => onChange({ refused })}
            spellCheck={false}
          />
          <TextField
            label={text.message}
            value={draft.message}
            onChange={(message) => onChange({ message })}
            spellCheck={false}
          />
        </>
      )}
      <SelectField
        label={text.repeats}
        hint={text.repeatsHint}
        value={draft.repeats}
        choices={(["counted", "detected"] as const).map((value) => ({ value, label: text.repeatKinds[value] }))}
        onChange={(repeats) => onChange({ repeats })}
      />
    </div>
  );
}

type LinesProps = {
  label: string;
  hint?: string;
  problem?: string | undefined;
  value: string;
  onChange: (value: string) => void;
  rows: number;
};

function Lines(props: LinesProps) {
  return (
    <div className="connector-lines">
      <TextArea {...props} spellCheck={false} />
    </div>
  );
}
