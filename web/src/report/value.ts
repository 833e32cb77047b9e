import { useMemo } from "react";
import { useApp } from "../chosen-app.tsx";
import { LOCALES } from "../format.ts";
import { useLanguage } from "../texts.ts";
import type { MetricUnit } from "./catalogue.ts";

export type ValueTexts = {
  /** A number of the report, exactly as the server rounded it. */
  value(unit: MetricUnit, value: number): string;
  /** A short form of the number for an axis. */
  short(unit: MetricUnit, value: number): string;
  /** A count, or an amount in whole cents or smaller units. */
  parts(unit: "count" | "cents" | "micros" | "e4", value: number): string;
};

const PARTS = { count: 1, cents: 100, e4: 10_000, micros: 1_000_000 };

/** Formats numbers of the ad report in the app's currency. */
export function useValueTexts(decimals: 2 | 4 = 2): ValueTexts {
  const language = useLanguage();
  const { currency } = useApp();
  return useMemo(() => valueTexts(LOCALES[language], currency, decimals), [language, currency, decimals]);
}

export function valueTexts(locale: string, currency: string, decimals: 2 | 4): ValueTexts {
  const inCurrency = { style: "currency", currency, currencyDisplay: "narrowSymbol" } as const;
  const money = (digits: number) =>
    new Intl.NumberFormat(locale, { ...inCurrency, minimumFractionDigits: 2, maximumFractionDigits: digits });
  const compact = { notation: "compact", maximumFractionDigits: 1 } as const;
  const formats = {
    count: new Intl.NumberFormat(locale),
    money: money(decimals),
    rate: new Intl.NumberFormat(locale, { style: "percent", minimumFractionDigits: 2, maximumFractionDigits: 2 }),
  };
  const shorts = {
    count: new Intl.NumberFormat(locale, compact),
    money: new Intl.NumberFormat(locale, { ...inCurrency, ...compact, minimumFractionDigits: 0 }),
    rate: new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }),
  };
  const micros = new Intl.NumberFormat(locale, { ...inCurrency, minimumFractionDigits: 6, maximumFractionDigits: 6 });
  const partial = { count: formats.count, cents: money(2), e4: money(4), micros };
  return {
    value: (unit, value) => formats[unit].format(value),
    short: (unit, value) => shorts[unit].format(value),
    parts: (unit, value) => partial[unit].format(value / PARTS[unit]),
  };
}
