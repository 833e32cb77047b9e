/** A text that a spreadsheet takes for a formula, even after blanks and quotes. Full-width signs count too. */
const FORMULA = /^[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/**
 * A formula within a text, after a character that separates cells in some locale. Many locales use semicolons, and two
 * of these characters are Arabic. Our quotes do not help there, because a quote in the middle of a cell means nothing.
 * Looks back from the formula's sign, so that each run of blanks is read once, however long.
 */
const INNER_FORMULA = /[=+\-@\uff1d\uff0b\uff0d\uff20](?<=[;\t|\r\n\u061b\u060c][\s"]*.)/g;
const NEEDS_QUOTES = /[",;\t|\r\n\u061b\u060c]/;

/**
 * One line of CSV (RFC 4180). All CSV output goes through here. A formula in a text gets an apostrophe: names and
 * channels come from outside, and opening a report must not run them. Numbers stay numbers, negative ones too.
 */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(cellOf).join(",")}\r\n`;
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const inert = text.replaceAll(INNER_FORMULA, "'$&");
  const safe = FORMULA.test(inert) && inert !== "-" ? `'${inert}` : inert;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
