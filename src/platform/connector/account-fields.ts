import type { AccountField, AccountSettings } from "./connector.ts";

export function costUnitField(fallback: "fen" | "yuan"): AccountField {
  return { name: "cost_unit", hint: "Unit in which the platform reports costs: fen or yuan", fallback };
}

/** The developer application to which the tokens belong. */
export const DEVELOPER_FIELDS: readonly AccountField[] = [
  { name: "app_id", hint: "Id of the developer application", fallback: "" },
  { name: "app_secret", hint: "Secret of the developer application", fallback: "", isSecret: true },
];

export const CURRENCY_FIELD: AccountField = { name: "currency", hint: "Currency of the account", fallback: "CNY" };

export const BY_CREATIVE_FIELD: AccountField = {
  name: "by_creative",
  hint: "yes: pull costs by creative too, which takes more calls",
  fallback: "no",
};

export const BY_HOUR_FIELD: AccountField = {
  name: "by_hour",
  hint: "yes: pull costs of the last week by the hour too, which takes more calls",
  fallback: "no",
};

export function isByHour(account: AccountSettings): boolean {
  return account("by_hour").toLowerCase() === "yes";
}

export function isByCreative(account: AccountSettings): boolean {
  return account("by_creative").toLowerCase() === "yes";
}
