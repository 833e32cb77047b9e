/** What a user is known by: the app, and the id that the app gave. */
export type UserKey = { appId: number; clientId: string };
