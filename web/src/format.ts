import { useMemo } from "react";
import { useLanguage } from "./texts.ts";

export const LOCALES = { en: "en-GB", zh: "zh-CN" } as const;

export type Format = {
  number(value: number): string;
  /** An amount in integer cents, in the currency of the reports. */
  cents(value: number): string;
  /** 0.125 is 12.5 %. */
  percent(value: number): string;
  bytes(value: number): string;
  /** A moment in the given time zone (an app's), or in the browser's own. */
  instant(atMs: number, timeZone?: string): string;
  time(atMs: number, timeZone?: string): string;
  ago(atMs: number, nowMs: number): string;
};

export function useFormat(): Format {
  const language = useLanguage();
  return useMemo(() => formatOf(LOCALES[language]), [language]);
}

export function formatOf(locale: string): Format {
  const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const money = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 2 });
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const moment = (options: Intl.DateTimeFormatOptions) => (atMs: number, timeZone?: string) =>
    new Intl.DateTimeFormat(locale, { hourCycle: "h23", ...options, ...(timeZone ? { timeZone } : {}) }).format(atMs);
  const time = moment({ timeStyle: "medium" });
  const date = (atMs: number, timeZone?: string) =>
    new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", ...(timeZone ? { timeZone } : {}) }).format(atMs);
  return {
    number: (value) => number.format(value),
    cents: (value) => money.format(value / 100),
    percent: (value) => percent.format(value),
    bytes: (value) => bytesText(number, value),
    time,
    instant: (atMs, timeZone) => `${date(atMs, timeZone)} ${time(atMs, timeZone)}`,
    ago: (atMs, nowMs) => agoText(relative, atMs - nowMs),
  };
}

function bytesText(number: Intl.NumberFormat, value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const step = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log2(value) / 10));
  return `${number.format(value / 1024 ** step)} ${units[step]}`;
}

function agoText(relative: Intl.RelativeTimeFormat, differenceMs: number): string {
  const steps = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1_000],
  ] as const;
  const [unit, ms] = steps.find(([, size]) => Math.abs(differenceMs) >= size) ?? steps[3];
  return relative.format(Math.round(differenceMs / ms), unit);
}

/** The local day of a moment, `YYYY-MM-DD`. */
export function dayOf(atMs: number, timeZone: string): string {
  return new Intl.DateTimeFormat("sv-SE", { timeZone }).format(atMs);
}

/** What the clock shows at a moment, from "00" to "23". */
export function hourOf(atMs: number, timeZone: string): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", hourCycle: "h23" }).format(atMs);
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
