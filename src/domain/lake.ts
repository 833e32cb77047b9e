/** The tables of the lake. Each has files by app and day. */
export const LAKE_KINDS = ["events", "users", "orders", "costs"] as const;
export type LakeKind = (typeof LAKE_KINDS)[number];

/** A day of an app in one table of the lake. */
export type LakeDay = { appId: number; kind: LakeKind; day: string };
