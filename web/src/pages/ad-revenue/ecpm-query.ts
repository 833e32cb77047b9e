export const ECPMS = "ecpms";
export const AD_REVENUE = "ad-revenue";

/** Queries that show eCPMs, or figures that depend on them. */
export const ECPM_VIEWS = [[ECPMS], [AD_REVENUE], ["report/ad"], ["report/chart"], ["report/explain"]] as const;
