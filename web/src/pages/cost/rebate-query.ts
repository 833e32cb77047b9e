export const REBATES = "rebates";

/** Queries that show rebates, or figures that depend on them. */
export const REBATE_VIEWS = [[REBATES], ["report/ad"], ["report/chart"], ["report/explain"]] as const;
