/** What an app, or a caller, has had too much of. Closed: counted by these, and the console has a sentence for each. */
export const REFUSALS = ["entries", "bytes", "address", "bodies", "large_bodies", "memory", "backlog", "disk"] as const;
export type Refusal = (typeof REFUSALS)[number];
