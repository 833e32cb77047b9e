import { stored } from "../stored.ts";

/**
 * The statement on the SQL page. This browser remembers it; it is not in the address, because it may be longer than
 * addresses can be, and may name users.
 */
export const sqlDraft = stored<string>("sql-draft", {
  isValue: (text): text is string => typeof text === "string",
  fallback: "",
});
