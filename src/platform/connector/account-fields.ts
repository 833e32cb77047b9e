import type { AccountField } from "./connector.ts";

export function costUnitField(fallback: "fen" | "yuan"): AccountField {
  return { name: "cost_unit", hint: "Unit in which the platform reports costs: fen or yuan", fallback };
}

export const CURRENCY_FIELD: AccountField = { name: "currency", hint: "Currency of the account", fallback: "CNY" };
