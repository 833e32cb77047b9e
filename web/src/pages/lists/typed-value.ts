/** What somebody has typed as the value of a property whose type may be known. */
export function typedValue(typed: string, type: string): string | number | boolean {
  const trimmed = typed.trim();
  if (type === "string" || type === "datetime") return typed;
  // More digits than a number can hold are an id.
  if (/^-?\d+(\.\d+)?$/.test(trimmed) && Math.abs(Number(trimmed)) <= Number.MAX_SAFE_INTEGER) return Number(trimmed);
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  return /^(".*"|“.*”)$/.test(trimmed) ? trimmed.slice(1, -1) : typed;
}

/** The other way round: what to type to get this value. */
export function typedText(value: unknown, type: string): string {
  if (typeof value !== "string") return String(value ?? "");
  return type === "string" || type === "datetime" || typedValue(value, type) === value ? value : `"${value}"`;
}
