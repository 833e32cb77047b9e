export const ACCOUNTS = "accounts";
export const ACCOUNT_FIELDS = "account-fields";
export const PULLS = "cost-pulls";

/** Queries that show accounts. */
export const ACCOUNT_VIEWS = [[ACCOUNTS], [PULLS], ["postback/status"]] as const;
