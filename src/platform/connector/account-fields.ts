import type { AccountField } from "./connector.ts";

export function costUnitField(fallback: "fen" | "yuan"): AccountField {
  return { name: "cost_unit", hint: "What the platform counts spend in: fen or yuan", fallback };
}

export const CURRENCY_FIELD: AccountField = { name: "currency", hint: "Currency of the account", fallback: "CNY" };

export const TOKEN_FIELDS: readonly AccountField[] = [
  { name: "access_token", hint: "Access token", fallback: "", isSecret: true },
  { name: "refresh_token", hint: "Refresh token, with which a new access token is had", fallback: "", isSecret: true },
];
