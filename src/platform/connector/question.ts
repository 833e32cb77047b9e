import type { CostQuestion } from "./cost-connector.ts";

/** Costs come first: where the rest fails, they are there. */
export function firstQuestions({ fromDay, toDay }: { fromDay: string; toDay: string }): CostQuestion[] {
  return [{ list: "report", from: fromDay, to: toDay, page: 1 }, { list: "account" }];
}

export function isReport({ list }: CostQuestion): boolean {
  return list === "report";
}

/** Ids for lists that take only so many at once, each group as one text: questions are plain. */
export function idGroups(ids: Iterable<string>, size: number): string[] {
  const distinct = [...new Set(ids)].filter((id) => id !== "");
  return Array.from({ length: Math.ceil(distinct.length / size) }, (_, at) =>
    distinct.slice(at * size, (at + 1) * size).join(","),
  );
}
