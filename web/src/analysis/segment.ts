/** The id of a saved segment in an address, or an empty text. */
export function segmentIdOf(text: unknown): string {
  return typeof text === "string" && /^[1-9]\d{0,8}$/.test(text) ? text : "";
}

/** Lists and exports of segments are about so many days up to today. A test compares it with the server's. */
export const SEGMENT_DAYS = 30;
