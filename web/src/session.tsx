import { useQuery } from "@tanstack/react-query";
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

/** Inside of the pages somebody always is signed in. */
export function useSession(): Session {
  return queries.getQueryData<Session>(SESSION_KEY)!;
}

/** An analyst looks at everything and changes nothing. */
export function useMayChange(): boolean {
  return useSession().role === "admin";
}

export async function signOut(): Promise<void> {
  await post("session/sign-out", {});
  startOver(null);
}

/** Nothing that one person was shown is there for the next. */
export function startOver(session: Session | null): void {
  queries.setQueryData(SESSION_KEY, session);
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}
