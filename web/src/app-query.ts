import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { get } from "./api.ts";
import { useApp } from "./chosen-app.tsx";

/** What the server answers at `path` for the chosen app. The path is also the query key to invalidate. */
export function useAppQuery<Answer>(path: string, options: Pick<UseQueryOptions<Answer>, "refetchInterval"> = {}) {
  const { app_id } = useApp();
  return useQuery<Answer>({
    queryKey: [path, app_id],
    queryFn: ({ signal }) => get<Answer>(path, { app_id }, signal),
    ...options,
  });
}
