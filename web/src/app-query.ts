import { type UseQueryOptions, useQuery } from "@tanstack/react-query";
import { get } from "./api.ts";
import { useApp } from "./chosen-app.tsx";

/** What the server says of the app at a path. By the path it is known, too, when it has to be fetched again. */
export function useAppQuery<Answer>(path: string, options: Pick<UseQueryOptions<Answer>, "refetchInterval"> = {}) {
  const { app_id } = useApp();
  return useQuery<Answer>({
    queryKey: [path, app_id],
    queryFn: ({ signal }) => get<Answer>(path, { app_id }, signal),
    ...options,
  });
}
