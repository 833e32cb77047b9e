import { useMutation, useQuery } from "@tanstack/react-query";
import { ApiFailure, get, post, queries, SESSION_KEY, type Session } from "./api.ts";

/** Who is signed in; null when nobody is. */
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

const NOBODY: Session = { name: "", role: "analyst", csrf: "" };

/** Inside of the pages somebody is signed in; when that ends, they are drawn once more before the way in is shown. */
export function useSession(): Session {
  return queries.getQueryData<Session | null>(SESSION_KEY) ?? NOBODY;
}

/** An analyst looks at everything and changes nothing. */
export function useMayChange(): boolean {
  return useSession().role === "admin";
}

/** A session that has ended already is noticed as everywhere: the way in is shown. */
export function useSignOut() {
  return useMutation({ mutationFn: () => post("session/sign-out", {}), onSuccess: () => startOver(null) });
}

/** Nothing that one person was shown is there for the next. */
export function startOver(session: Session | null): void {
  queries.setQueryData(SESSION_KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}
