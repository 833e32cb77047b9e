import { saveFile } from "../save-file.ts";
import { type CsvRow, csvText } from "./csv-text.ts";

/** Hands a table to the browser as CSV. Excel reads it as UTF-8 because of the mark at its beginning. */
export function saveCsv(rows: readonly CsvRow[], name: string): void {
  saveFile(new Blob(["\uFEFF", csvText(rows)], { type: "text/csv" }), name);
}
