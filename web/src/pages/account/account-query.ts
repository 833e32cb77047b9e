export const SESSIONS_KEY = ["session/list"] as const;
export const FACTOR_KEY = ["session/second-factor"] as const;
export const TOKENS_KEY = ["api-tokens"] as const;
