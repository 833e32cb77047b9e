import { stored } from "../../stored.ts";

const KEPT_MAX = 50;

/** The statements of this browser as JSON, the latest first. */
export const sqlHistory = stored<string>("sql-history", {
  isValue: (text): text is string => Array.isArray(parsed(text)),
  fallback: "[]",
});

export function statementsOf(text: string): string[] {
  const found = parsed(text);
  return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
}

/** Puts a statement first; one that was run before moves there. */
export function remember(statement: string): void {
  const others = statementsOf(sqlHistory.read()).filter((one) => one !== statement);
  sqlHistory.write(JSON.stringify([statement, ...others].slice(0, KEPT_MAX)));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
