export const ACCOUNTS = "accounts";
export const PULLS = "cost-pulls";

/** Whatever shows accounts. */
export const ACCOUNT_VIEWS = [[ACCOUNTS], [PULLS], ["postback/status"]] as const;
