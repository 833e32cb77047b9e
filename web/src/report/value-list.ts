/**
 * Several values as one text of the address, such as `ios,android`. Channels and ids come from outside and may hold
 * anything; the tilde stands for the value that is missing.
 */
export function listText(values: readonly string[]): string {
  return values.map((value) => (value === "" ? "~" : encodeURIComponent(value).replaceAll("~", "%7E"))).join(",");
}

export function listOf(text: string): string[] {
  if (text === "") return [];
  return text.split(",").map((part) => (part === "~" ? "" : decoded(part)));
}

/** Somebody may have typed the address. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
