import { type QueryKey, useMutation } from "@tanstack/react-query";
import { queries } from "./api.ts";
import { say } from "./ui/toast.tsx";

export type Change<Answer> = {
  ask: () => Promise<Answer>;
  /** Queries that show the changed thing; they are fetched again before the toast appears. */
  stale: readonly QueryKey[];
  said: (answer: Answer) => string;
  /** Usually closes the dialog. */
  onDone: (answer: Answer) => void;
};

/** A change to ask the server for. Once it is made, the page shows the new state and a toast. */
export function useChange<Answer>({ ask, stale, said, onDone }: Change<Answer>) {
  return useMutation({
    mutationFn: ask,
    onSuccess: async (answer) => {
      for (const queryKey of stale) await queries.invalidateQueries({ queryKey });
      say(said(answer));
      onDone(answer);
    },
  });
}
