/** Days as the oracle counts them, without the calendar of the program under test. */
const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

export function dayOf(ms: number, timeZone: string): string {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
    formats.set(timeZone, format);
  }
  return format.format(ms);
}

/** What the clock shows, from "00" to "23". */
export function hourOf(ms: number, timeZone: string): string {
  const key = `hour ${timeZone}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", hourCycle: "h23" });
    formats.set(key, format);
  }
  return format.format(ms);
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}
