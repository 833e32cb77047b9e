/**
 * Several values as one text for the address, such as `ios,android`. Channels and ids come from outside and may hold any
 * character. A tilde stands for the empty value.
 */
export function listText(values: readonly string[]): string {
  return values.map((value) => (value === "" ? "~" : encodeURIComponent(value).replaceAll("~", "%7E"))).join(",");
}

export function listOf(text: string): string[] {
  if (text === "") return [];
  return text.split(",").map((part) => (part === "~" ? "" : decoded(part)));
}

/** Decodes a value; the address may have been typed by hand. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
