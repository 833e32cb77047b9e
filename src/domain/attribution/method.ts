/**
 * The methods that link a user to a touch, surest first. An earlier method beats a later one, whatever the times.
 * `launch_query` needs no stored touch: the query itself names the platform and the ad.
 */
export const METHODS = ["click_key", "device_id", "open_id", "launch_query", "ip_ua"] as const;
export type TouchMethod = Exclude<(typeof METHODS)[number], "launch_query">;
/** `reported`: the caller named the platform (attributed register, or history from another system). */
export type Method = "reported" | (typeof METHODS)[number];
