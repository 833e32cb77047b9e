/** The value meant by a typed text, given the property's type if it is known. */
export function typedValue(typed: string, type: string): string | number | boolean {
  const trimmed = typed.trim();
  if (type === "string" || type === "datetime") return typed;
  // A text with more digits than a number can hold is an id.
  if (/^-?\d+(\.\d+)?$/.test(trimmed) && Math.abs(Number(trimmed)) <= Number.MAX_SAFE_INTEGER) return Number(trimmed);
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  return /^(".*"|“.*”)$/.test(trimmed) ? trimmed.slice(1, -1) : typed;
}

/** The text to type for this value: the inverse of `typedValue`. */
export function typedText(value: unknown, type: string): string {
  if (typeof value !== "string") return String(value ?? "");
  return type === "string" || type === "datetime" || typedValue(value, type) === value ? value : `"${value}"`;
}
