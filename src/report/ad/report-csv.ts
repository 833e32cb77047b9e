import { csvLine } from "../../domain/csv.ts";
import { ASSOCIATED, dimensionNamed } from "../metric/dimension.ts";
import type { AdReport } from "./ad-report.ts";
import type { AdReportRequest } from "./ad-report-request.ts";

const ROWS_AT_ONCE = 1_000;
/** Without it, spreadsheets garble Chinese characters. */
const BYTE_ORDER_MARK = "\uFEFF";
const TOTAL = { en: "Total", zh: "合计" };

type Column = { name: string; label: string; cname: string };

/** A report as CSV, in pieces: a header, the rows, and the total under the first dimension. */
export function* reportCsv(
  { items, total }: Pick<AdReport, "items" | "total">,
  request: AdReportRequest,
  language: "en" | "zh",
): Generator<string> {
  const columns = columnsOf(request);
  const header = columns.map(({ label, cname }) => (language === "zh" ? cname : label));
  yield BYTE_ORDER_MARK + csvLine(header);
  const first = request.dimensions[0];
  const rows = first === undefined ? items : [...items, ...total.map((row) => ({ [first]: TOTAL[language], ...row }))];
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const lines = rows.slice(from, from + ROWS_AT_ONCE).map((row) => csvLine(columns.map(({ name }) => row[name])));
    yield lines.join("");
  }
}

/** The columns, with names and states next to the dimension that they belong to. */
function columnsOf({ dimensions, associated, metrics }: AdReportRequest): Column[] {
  const named = dimensions.flatMap((dimension) => [
    dimensionNamed(dimension)!,
    ...associated
      .filter((name) => ASSOCIATED[name].dimension === dimension)
      .map((name) => ({ name, ...ASSOCIATED[name] })),
  ]);
  return [...named, ...metrics];
}
