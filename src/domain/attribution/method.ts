/**
 * How a user can be found to belong to a touch, surest first. An earlier one beats a later one, whatever the times.
 * `launch_query` needs no stored touch: what the app was opened with names the platform and the ad by itself.
 */
export const METHODS = ["click_key", "device_id", "open_id", "launch_query", "ip_ua"] as const;
export type TouchMethod = Exclude<(typeof METHODS)[number], "launch_query">;
/** `reported`: the caller said so (attributed register, or history brought over from another system). */
export type Method = "reported" | (typeof METHODS)[number];
