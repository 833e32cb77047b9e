import { useKnownNames } from "../../../analysis/known-names.ts";
import type { KnownNames } from "../../../analysis/names.ts";
import { listText } from "../../../report/value-list.ts";
import { useTexts } from "../../../texts.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure } from "../../../ui/failure.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { SettledField } from "../../../ui/settled-field.tsx";
import { DaysAndUsers } from "../question/days-and-users.tsx";
import { FieldSelect, useFieldGroups } from "../question/field-select.tsx";
import { type AnalysisState, compareDay, SERIES_MAX, STEPS, seriesText, TOPS, type UrlState } from "../state.ts";
import { texts } from "../texts.ts";
import { SeriesRows } from "./series-rows.tsx";

type EditorProps = {
  state: AnalysisState;
  /** Why the question was refused. */
  refusal: unknown;
  onChange: (changes: Partial<UrlState>) => void;
};

/** The question. A refusal is shown at the formula that it quotes, or at the end. */
export function Editor({ state, refusal, onChange }: EditorProps) {
  const known = useKnownNames();
  const sentence = refusal instanceof Error ? refusal.message : "";
  const isQuoted = state.formulas.some((formula) => quotes(sentence, formula));
  return (
    <section className="card stack question">
      <SeriesRows series={state.series} known={known} onChange={(series) => onChange({ series: seriesText(series) })} />
      <Formulas formulas={state.formulas} sentence={sentence} onChange={onChange} />
      <div className="row fields">
        <DaysAndUsers days={state.days} segment={state.segment} onChange={onChange} />
        <Grouping state={state} known={known} onChange={onChange} />
        <Comparison state={state} onChange={onChange} />
      </div>
      {refusal !== null && refusal !== undefined && !isQuoted && <Failure error={refusal} />}
    </section>
  );
}

type Changing = { onChange: (changes: Partial<UrlState>) => void };

/** The server quotes the formula that it cannot read, shortened. */
function quotes(sentence: string, formula: string): boolean {
  return formula !== "" && sentence.includes(`formula ${JSON.stringify(formula).slice(0, 60)}`);
}

function Formulas({ formulas, sentence, onChange }: Changing & { formulas: readonly string[]; sentence: string }) {
  const text = useTexts(texts);
  const change = (next: readonly string[]) => onChange({ formulas: listText(next) });
  return (
    <div className="row fields">
      {formulas.map((formula, index) => (
        <div key={index} className="formula">
          <SettledField
            label={text.formula}
            value={formula}
            maxLength={200}
            placeholder="A / B * 100"
            hint={text.formulaHint}
            problem={quotes(sentence, formula) ? sentence : undefined}
            onChange={(typed) => change(formulas.map((one, at) => (at === index ? typed.trim() : one)))}
          />
          <Button
            look="quiet"
            size="small"
            aria-label={text.removeFormula(formula)}
            onClick={() => change(formulas.filter((_, at) => at !== index))}
          >
            ×
          </Button>
        </div>
      ))}
      {formulas.length < SERIES_MAX && (
        <Button size="small" onClick={() => change([...formulas, ""])}>
          {text.addFormula}
        </Button>
      )}
    </div>
  );
}

function Grouping({ state, known, onChange }: Changing & { state: AnalysisState; known: KnownNames }) {
  const text = useTexts(texts);
  const hasOrders = state.series.every(({ source }) => source === "order");
  const groups = useFieldGroups(known, hasOrders ? "orders" : "no orders");
  const [first = "", second = ""] = state.split;
  const split = (fields: readonly string[]) => onChange({ split: listText(fields.filter((field) => field !== "")) });
  return (
    <>
      <SelectField
        label={text.by}
        value={state.by}
        choices={STEPS.map((value) => ({ value, label: text.steps[value] }))}
        onChange={(by) => onChange({ by })}
      />
      <FieldSelect
        label={text.split}
        value={first}
        groups={groups}
        none={text.noSplit}
        onChange={(field) => split([field, second])}
      />
      {first !== "" && (
        <>
          <FieldSelect
            label={text.splitAlso}
            value={second}
            groups={groups}
            none={text.noSplit}
            onChange={(field) => split([first, field])}
          />
          <SelectField
            label={text.top}
            value={String(state.top)}
            choices={TOPS.map((value) => ({ value, label: text.topOf(value) }))}
            onChange={(top) => onChange({ top })}
          />
        </>
      )}
    </>
  );
}

function Comparison({ state: { compare, days }, onChange }: Changing & { state: AnalysisState }) {
  const text = useTexts(texts);
  const isOwn = !(compare in text.compares);
  const choose = (value: string) =>
    onChange({ compare: value === "own" ? (compareDay(compare || "before", days) ?? "") : value });
  // Keys that are numbers come first in an object; here they come last.
  const names = ["", "before", "7", "28"] as const;
  return (
    <>
      <SelectField
        label={text.compare}
        value={isOwn ? "own" : compare}
        choices={[
          ...names.map((value) => ({ value, label: text.compares[value] })),
          { value: "own", label: text.compareOwn },
        ]}
        onChange={choose}
      />
      {isOwn && (
        <SettledField
          type="date"
          label={text.compareFrom}
          value={compare}
          onChange={(day) => day && onChange({ compare: day })}
        />
      )}
    </>
  );
}
