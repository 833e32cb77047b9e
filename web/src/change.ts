import { type QueryKey, useMutation } from "@tanstack/react-query";
import { queries } from "./api.ts";
import { say } from "./ui/toast.tsx";

export type Change<Answer> = {
  ask: () => Promise<Answer>;
  /** What shows it; fetched again before anything is said. */
  stale: readonly QueryKey[];
  said: (answer: Answer) => string;
  /** Usually the dialog closes. */
  onDone: (answer: Answer) => void;
};

/** Something that the server is asked to change; once it has, the page shows it and says so. */
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
