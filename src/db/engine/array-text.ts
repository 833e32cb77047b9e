/**
 * Values whose type needs no quotes (numbers, days, ids) as the text of an array of the database. The driver could make
 * it too, but it knows no types and quotes every value: with 2,000 rows of 16 columns, that took a third of the
 * processor time.
 */
export function plainArray(values: readonly unknown[]): string {
  return `{${values.map((value) => value ?? "NULL").join(",")}}`;
}

/**
 * The same of texts. JSON writes a list of texts as the database reads it, but for line breaks and the like. With 18,000
 * texts in which quotes are to be escaped, that takes 2 ms instead of 12.
 */
export function textArray(values: readonly (string | null | undefined)[]): string {
  const json = JSON.stringify(values);
  return OTHER_ESCAPE.test(json) ? `{${values.map(quoted).join(",")}}` : `{${json.slice(1, -1)}}`;
}

const OTHER_ESCAPE = /\\[^"\\]/;

function quoted(text: string | null | undefined): string {
  return typeof text === "string" ? `"${text.replaceAll(/["\\]/g, "\\$&")}"` : "NULL";
}
