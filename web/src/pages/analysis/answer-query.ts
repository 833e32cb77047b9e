import { keepPreviousData, type UseQueryResult, useQuery } from "@tanstack/react-query";
import type { Origin } from "../../../../src/contract/analysis/asked.ts";
import type { EventsAnswer, EventsCell, EventsQuestion } from "../../../../src/contract/analysis/events.ts";
import type { UsersBehind } from "../../../../src/contract/analysis/question.ts";
import { post } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { type AnalysisState, incompleteSeries, questionOf } from "./state.ts";

/** An answer with the question that it answers: until a newer one arrives, the older is shown with its own names. */
export type Asked = Origin & { question: EventsQuestion; answer: EventsAnswer };

/** Asks as soon as nothing is missing. */
export function useAnswer(state: AnalysisState): UseQueryResult<Asked> {
  const { app_id } = useApp();
  const question = questionOf(state);
  return useQuery({
    queryKey: ["analysis/events", app_id, question],
    enabled: incompleteSeries(state.series) === undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => ({
      question,
      ...(await post<Omit<Asked, "question">>("analysis/events", { app_id, question }, signal)),
    }),
  });
}

export type Behind = UsersBehind & Pick<Origin, "received_until" | "took_ms">;

export function useUsersBehind(question: EventsQuestion, cell: EventsCell): UseQueryResult<Behind> {
  const { app_id } = useApp();
  return useQuery({
    queryKey: ["analysis/events/users", app_id, question, cell],
    staleTime: 0,
    queryFn: ({ signal }) => post<Behind>("analysis/events/users", { app_id, question, cell }, signal),
  });
}
