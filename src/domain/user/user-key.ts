/** The key of a user: the app, and the id that the app assigned. */
export type UserKey = { appId: number; clientId: string };
