import type { QueryClient } from "@tanstack/react-query";

export const ACCOUNTS_KEY = "accounts";
export const PULLS_KEY = "cost-pulls";

/** Whatever shows accounts. */
export async function refreshAccounts(queries: QueryClient): Promise<void> {
  const names = [ACCOUNTS_KEY, PULLS_KEY, "postback-state"];
  await Promise.all(names.map((name) => queries.invalidateQueries({ queryKey: [name] })));
}
