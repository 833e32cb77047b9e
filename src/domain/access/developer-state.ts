/** What has become of an application that pulls reports: asked for, then approved or refused by an admin. */
export const DEVELOPER_STATES = ["requested", "approved", "refused", "disabled"] as const;
export type DeveloperState = (typeof DEVELOPER_STATES)[number];
