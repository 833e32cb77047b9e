/** The state of an application that pulls reports: requested, then approved or refused by an admin. */
export const DEVELOPER_STATES = ["requested", "approved", "refused", "disabled"] as const;
export type DeveloperState = (typeof DEVELOPER_STATES)[number];
