/** The page of one user. The id is in the query, where every character can stand. */
export function userAddress(appId: number, clientId: string): string {
  return `/users/user?${new URLSearchParams({ app: String(appId), client: clientId })}`;
}
