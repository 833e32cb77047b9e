import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { AnalysisKind } from "../../../../../src/contract/analysis/analysis.ts";
import type { Origin } from "../../../../../src/contract/analysis/asked.ts";
import type { EventsAnswer, EventsQuestion } from "../../../../../src/contract/analysis/events.ts";
import type { UsersBehind } from "../../../../../src/contract/analysis/question.ts";
import { post } from "../../../api.ts";
import { useApp } from "../../../chosen-app.tsx";
import { type AnalysisState, incompleteSeries, questionOf } from "../state.ts";

/** An answer with the question that it answers: until a newer one arrives, the older is shown with its own names. */
export type Asked<Question, Answer> = Origin & { question: Question; answer: Answer };
export type AskedEvents = Asked<EventsQuestion, EventsAnswer>;

/** Asks anew with every change of the question. */
export function useQuestion<Question extends object, Answer>(
  name: AnalysisKind,
  question: Question,
  readiness: "complete" | "incomplete" = "complete",
): UseQueryResult<Asked<Question, Answer>> {
  const { app_id } = useApp();
  const path = `analysis/${name}`;
  return useQuery({
    queryKey: [path, app_id, question],
    enabled: readiness === "complete",
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => ({
      question,
      ...(await post<Origin & { answer: Answer }>(path, { app_id, question }, signal)),
    }),
  });
}

export function useAnswer(state: AnalysisState): UseQueryResult<AskedEvents> {
  const isComplete = incompleteSeries(state.series) === undefined;
  return useQuestion("events", questionOf(state), isComplete ? "complete" : "incomplete");
}

/** A number of an answer. */
export type NamedCell = { name: AnalysisKind; question: object; cell: object };
export type Behind = UsersBehind & Pick<Origin, "received_until" | "took_ms">;

export function useUsersBehind({ name, question, cell }: NamedCell): UseQueryResult<Behind> {
  const { app_id } = useApp();
  const path = `analysis/${name}/users`;
  return useQuery({
    queryKey: [path, app_id, question, cell],
    staleTime: 0,
    queryFn: ({ signal }) => post<Behind>(path, { app_id, question, cell }, signal),
  });
}
