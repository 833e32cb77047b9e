import type { CostQuestion } from "./cost-connector.ts";

/** The questions for costs and for the account's name. Costs come first, so that they are stored if the rest fails. */
export function firstQuestions({ fromDay, toDay }: { fromDay: string; toDay: string }): CostQuestion[] {
  return [{ list: "report", from: fromDay, to: toDay, page: 1 }, { list: "account" }];
}

export function isReport({ list }: CostQuestion): boolean {
  return list === "report";
}

/** Ids in groups of at most `size`, each as one text, because questions hold only texts and numbers. */
export function idGroups(ids: Iterable<string>, size: number): string[] {
  const distinct = [...new Set(ids)].filter((id) => id !== "");
  return Array.from({ length: Math.ceil(distinct.length / size) }, (_, at) =>
    distinct.slice(at * size, (at + 1) * size).join(","),
  );
}
