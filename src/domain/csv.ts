/** What a spreadsheet takes for the beginning of a formula, also in full width, and what it passes over before one. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * One line of CSV (RFC 4180): every CSV that is written goes through here. A text that a spreadsheet would take for a
 * formula gets an apostrophe before it: names and channels come from outside, and opening a report must not run them.
 * Numbers stay numbers, below zero too.
 */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(",")}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = FORMULA.test(text) && text !== "-" ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
