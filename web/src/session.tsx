import { useMutation, useQuery } from "@tanstack/react-query";
import { ApiFailure, get, post, queries, SESSION_KEY, type Session } from "./api.ts";

/** The signed-in person, or null. */
export function useSessionQuery() {
  return useQuery({
    queryKey: SESSION_KEY,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () =>
      get<Session>("session").catch((error: unknown) => {
        if (error instanceof ApiFailure && error.isNotSignedIn) return null;
        throw error;
      }),
  });
}

const NOBODY: Session = { name: "", grants: [], needs_second_factor: false, csrf: "" };

/** The session inside the pages. After sign-out the pages render once more before the sign-in page replaces them. */
export function useSession(): Session {
  return queries.getQueryData<Session | null>(SESSION_KEY) ?? NOBODY;
}

/** If the session has already ended, the sign-in page appears as for any other call. */
export function useSignOut() {
  return useMutation({ mutationFn: () => post("session/sign-out", {}), onSuccess: () => startOver(null) });
}

/** Clears all fetched data, so that the next person sees nothing of the last one's. */
export function startOver(session: Session | null): void {
  queries.setQueryData(SESSION_KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}
