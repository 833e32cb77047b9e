/** The secrets of an app. Each has its own purpose, and each can be replaced. */
export const APP_SECRETS = ["access_token", "app_key", "aes_key"] as const;
export type AppSecret = (typeof APP_SECRETS)[number];
