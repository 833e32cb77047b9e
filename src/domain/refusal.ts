/** What an app or a caller has had too much of. A closed list: the console has a sentence for each. */
export const REFUSALS = ["entries", "bytes", "address", "bodies", "large_bodies", "memory", "backlog", "disk"] as const;
export type Refusal = (typeof REFUSALS)[number];
