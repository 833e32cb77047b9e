import type { CostQuestion, Subject } from "./cost-connector.ts";

/** The questions for costs, for the account's totals and for its name. */
export function firstQuestions({ fromDay, toDay }: { fromDay: string; toDay: string }): CostQuestion[] {
  const days = { from: fromDay, to: toDay, page: 1 };
  return [{ list: "report", ...days }, { list: "totals", ...days }, { list: "account" }];
}

export function subjectOf({ list }: CostQuestion): Subject {
  return list === "report" ? "costs" : list === "totals" ? "totals" : "names";
}

/** Ids in groups of at most `size`, each as one text, because questions hold only texts and numbers. */
export function idGroups(ids: Iterable<string>, size: number): string[] {
  const distinct = [...new Set(ids)].filter((id) => id !== "");
  return Array.from({ length: Math.ceil(distinct.length / size) }, (_, at) =>
    distinct.slice(at * size, (at + 1) * size).join(","),
  );
}
