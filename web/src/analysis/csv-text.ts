export type CsvRow = readonly unknown[];

/** The rules of src/domain/csv.ts, which the console cannot import; a test keeps both in step. */
export function csvText(rows: readonly CsvRow[]): string {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

const FORMULA = /^[\s"]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const INNER_FORMULA = /[=+\-@\uff1d\uff0b\uff0d\uff20](?<=[;\t|\r\n\u061b\u060c][\s"]*.)/g;
const NEEDS_QUOTES = /[",;\t|\r\n\u061b\u060c]/;
/** The lake's answers have large integers and decimals as texts. */
const NUMBER = /^-?\d+(\.\d+)?$/;

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (NUMBER.test(text)) return text;
  const inert = text.replaceAll(INNER_FORMULA, "'$&");
  const safe = FORMULA.test(inert) && inert !== "-" ? `'${inert}` : inert;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
