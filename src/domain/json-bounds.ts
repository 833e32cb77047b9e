import { ApiError } from "../errors.ts";

export type JsonBounds = { values: number; depth: number };

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Refuses a JSON text with too many values or levels before any of it is built. Parsing 16 MiB of `[[[[…` takes five
 * seconds, and 16 MiB of `{},{},…` gigabytes of memory, but scanning their bytes takes moments. Text that is not JSON
 * is left to the parser.
 */
export function assertWithin(bytes: Uint8Array, bounds: JsonBounds): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfText(bytes, at + 1);
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        // A list or an object holds one value more than it has commas.
        values += 1;
        if (depth > bounds.depth) {
          throw new ApiError("badParameter", `The body is nested deeper than ${bounds.depth} levels.`);
        }
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
    }
    if (values > bounds.values) {
      throw new ApiError("bodyTooLarge", `The body holds more than ${bounds.values} values.`);
    }
  }
}

/** The position of the quote that closes a text, or the end of the bytes. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
