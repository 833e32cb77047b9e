import type { Measure, Series } from "../../../../../src/contract/analysis/events.ts";
import type { KnownNames } from "../../../analysis/names.ts";
import { useTexts } from "../../../texts.ts";
import { Button } from "../../../ui/button.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { SettledField } from "../../../ui/settled-field.tsx";
import { NumberSelect } from "../question/number-select.tsx";
import { SourceFields } from "../question/source-fields.tsx";
import { letterOf, MEASURES, needsNumber, SERIES_MAX } from "../state.ts";
import { texts } from "../texts.ts";

type SeriesRowsProps = {
  series: readonly Series[];
  known: KnownNames;
  onChange: (series: readonly Series[]) => void;
};

/** What is counted: events or orders, their measure and their conditions. */
export function SeriesRows({ series, known, onChange }: SeriesRowsProps) {
  const text = useTexts(texts);
  return (
    <>
      {series.map((one, index) => (
        <div key={index} className="series">
          <span className="series-letter">{letterOf(index)}</span>
          <div className="grow stack tight">
            <SeriesRow
              series={one}
              known={known}
              onChange={(next) => onChange(series.map((old, at) => (at === index ? next : old)))}
            />
          </div>
          {series.length > 1 && (
            <Button
              look="quiet"
              size="small"
              aria-label={text.removeSeries(letterOf(index))}
              onClick={() => onChange(series.filter((_, at) => at !== index))}
            >
              ×
            </Button>
          )}
        </div>
      ))}
      {series.length < SERIES_MAX && (
        <div className="row">
          <Button size="small" onClick={() => onChange([...series, { source: "event", measure: "count" }])}>
            {text.addSeries}
          </Button>
        </div>
      )}
    </>
  );
}

type SeriesRowProps = { series: Series; known: KnownNames; onChange: (series: Series) => void };

function SeriesRow({ series, known, onChange }: SeriesRowProps) {
  const text = useTexts(texts);
  const { source, event: _event, filter: _filter, ...measuring } = series;
  return (
    <SourceFields
      source={series}
      known={known}
      onChange={(next) =>
        onChange(
          next.source === source ? { ...measuring, ...next } : { ...next, measure: plainMeasure(series.measure) },
        )
      }
    >
      <SelectField
        label={text.measure}
        value={series.measure}
        choices={MEASURES.map((value) => ({ value, label: text.measures[value] }))}
        onChange={(next) => onChange(measured(series, next as Measure))}
      />
      {needsNumber(series.measure) && <NumberFields series={series} known={known} onChange={onChange} />}
    </SourceFields>
  );
}

function plainMeasure(measure: Measure): Measure {
  return needsNumber(measure) ? "count" : measure;
}

/** The series with another measure: without a number if that needs none, with the median first if it is a percentile. */
function measured({ property, amount, percent: _percent, ...series }: Series, measure: Measure): Series {
  const number = { ...(property !== undefined && { property }), ...(amount !== undefined && { amount }) };
  return {
    ...series,
    measure,
    ...(needsNumber(measure) && number),
    ...(measure === "percentile" && { percent: 50 }),
  };
}

function NumberFields({ series, known, onChange }: SeriesRowProps) {
  const text = useTexts(texts);
  const { property: _property, amount: _amount, ...rest } = series;
  return (
    <>
      <NumberSelect
        source={series.source}
        number={series}
        known={known}
        onChange={(number) => onChange({ ...rest, ...number })}
      />
      {series.measure === "percentile" && (
        <SettledField
          label={text.percent}
          type="number"
          min="0.1"
          max="99.9"
          step="0.1"
          value={String(series.percent ?? 50)}
          onChange={(typed) => onChange({ ...series, percent: Number(typed) || 50 })}
        />
      )}
    </>
  );
}
