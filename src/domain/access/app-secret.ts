/** What an app proves itself by, each for something of its own; each can be replaced by a new one. */
export const APP_SECRETS = ["access_token", "app_key", "aes_key"] as const;
export type AppSecret = (typeof APP_SECRETS)[number];
