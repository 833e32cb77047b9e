import type { RetentionGroup } from "../../../../../src/contract/analysis/retention.ts";
import type { CsvRow } from "../../../analysis/csv-text.ts";
import type { questionTexts } from "../question-texts.ts";

type Texts = Pick<typeof questionTexts.en, "cohort" | "users" | "returnedIn" | "valueIn" | "valueUntil">;

/** A row for each cohort, all together first: who came back in each period, and with a value, that too. */
export function retentionRows({ total, cohorts }: RetentionGroup, text: Texts): CsvRow[] {
  const numbered = (head: string) => total.returned.map((_, period) => `${head} ${period}`);
  const header = total.values
    ? [...numbered(text.returnedIn), ...numbered(text.valueIn), ...numbered(text.valueUntil)]
    : total.returned.map((_, period) => period);
  const row = (name: string, { users, returned, values = [], per_user = [] }: RetentionGroup["total"]) => [
    name,
    users,
    ...returned,
    ...values,
    ...per_user,
  ];
  return [
    [text.cohort, text.users, ...header],
    row("", total),
    ...cohorts.map(({ cohort, ...figures }) => row(cohort, figures)),
  ];
}
