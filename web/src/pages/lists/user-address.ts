/** The address of a user's page. The id is a query parameter because it may hold any character. */
export function userAddress(appId: number, clientId: string): string {
  return `/users/user?${new URLSearchParams({ app: String(appId), client: clientId })}`;
}
