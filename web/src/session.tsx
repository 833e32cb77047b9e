import { useMutation, useQuery } from "@tanstack/react-query";
import type { SignedOut } from "../../src/contract/setting/session.ts";
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
  return useMutation({
    mutationFn: () => post<SignedOut>("session/sign-out", {}),
    onSuccess: ({ provider_url }) => {
      startOver(null);
      // Otherwise the next person at this browser would be signed in without a question.
      if (provider_url !== null) location.assign(provider_url);
    },
  });
}

/** Clears all fetched data, so that the next person sees nothing of the last one's. */
export function startOver(session: Session | null): void {
  queries.setQueryData(SESSION_KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}
