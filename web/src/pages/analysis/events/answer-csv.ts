import type { CsvRow } from "../../../analysis/csv-text.ts";
import type { AskedEvents } from "../answer/answer-query.ts";
import type { LineNames } from "./line-names.ts";

type Heads = { series: string; total: string; earlier: string };

/** The whole answer as a table: a row for each line, and below it one for the earlier range. */
export function answerRows({ answer }: Pick<AskedEvents, "answer">, names: LineNames, heads: Heads): CsvRow[] {
  const header = [heads.series, ...names.fields, heads.total, ...answer.buckets];
  const rows = answer.lines.flatMap((line): CsvRow[] => {
    const first = [names.subject(line), ...names.group(line), line.total, ...line.values];
    if (!line.earlier) return [first];
    const { total, values } = line.earlier;
    return [first, [`${names.subject(line)} (${heads.earlier})`, ...names.group(line), total, ...values]];
  });
  return [header, ...rows];
}
