import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import { texts } from "./texts.ts";

/** A row of the form; `id` is only its React key. */
export type Rate = { id: number; code: string; value: string };

let lastId = 0;

function newRate(code: string, value: string): Rate {
  lastId += 1;
  return { id: lastId, code, value };
}

export function ratesOf(rates: Readonly<Record<string, string>>): Rate[] {
  return Object.entries(rates).map(([code, value]) => newRate(code, value));
}

export function isRateList(rates: readonly Rate[]): boolean {
  return rates.every(isRate) && new Set(rates.map(({ code }) => code)).size === rates.length;
}

function isRate({ code, value }: Rate): boolean {
  return /^[A-Z]{3}$/.test(code) && /^\d{1,9}(\.\d{1,9})?$/.test(value) && Number(value) > 0;
}

type RatesFieldProps = { currency: string; rates: readonly Rate[]; onChange: (rates: readonly Rate[]) => void };

export function RatesField({ currency, rates, onChange }: RatesFieldProps) {
  const text = useTexts(texts);
  const change = (id: number, part: Partial<Rate>) =>
    onChange(rates.map((rate) => (rate.id === id ? { ...rate, ...part } : rate)));
  return (
    <fieldset className="rates stack tight">
      <legend>{text.rates}</legend>
      <span className="soft small">{text.ratesHint(currency)}</span>
      {rates.map((rate) => (
        <div key={rate.id} className="rate">
          <TextField
            label={text.rateCurrency}
            value={rate.code}
            onChange={(code) => change(rate.id, { code: code.toUpperCase() })}
            maxLength={3}
          />
          <TextField
            label={text.rateValue(currency)}
            value={rate.value}
            onChange={(value) => change(rate.id, { value })}
            inputMode="decimal"
          />
          <Button onClick={() => onChange(rates.filter(({ id }) => id !== rate.id))}>{text.removeRate}</Button>
        </div>
      ))}
      {!isRateList(rates) && (
        <span className="bad small" role="alert">
          {text.ratesProblem}
        </span>
      )}
      <div>
        <Button size="small" onClick={() => onChange([...rates, newRate("", "")])}>
          {text.addRate}
        </Button>
      </div>
    </fieldset>
  );
}
