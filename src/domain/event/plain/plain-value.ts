export const [QUOTE, COMMA, COLON, ZERO] = [0x22, 0x2c, 0x3a, 0x30];
export const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
export const [BACKSLASH, SPACE, NINE] = [0x5c, 0x20, 0x39];
const [MINUS, POINT] = [0x2d, 0x2e];
/** The first letters of true, false and null. */
export const [TRUE_BYTE, FALSE_BYTE, NULL_BYTE] = [0x74, 0x66, 0x6e];
const [TAB, LINE_FEED, CARRIAGE_RETURN] = [0x09, 0x0a, 0x0d];

/** What stands where a value is not plain. */
export const NOT_PLAIN = -1;

/**
 * Where the value that begins at `at` ends, if it is plain: a text without escapes, true, false, null, or a number as
 * JavaScript would write it. Such a value stands in the canonical text byte for byte as it was sent. The bytes are UTF-8.
 */
export function endOfPlain(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case QUOTE:
      return endOfText(bytes, at + 1);
    case TRUE_BYTE:
      return isAt(bytes, at, TRUE) ? at + TRUE.length : NOT_PLAIN;
    case FALSE_BYTE:
      return isAt(bytes, at, FALSE) ? at + FALSE.length : NOT_PLAIN;
    case NULL_BYTE:
      return isAt(bytes, at, NULL) ? at + NULL.length : NOT_PLAIN;
    default:
      return endOfNumber(bytes, at);
  }
}

const [TRUE, FALSE, NULL] = [bytesOf("true"), bytesOf("false"), bytesOf("null")];

/** The end of a text after its closing quote. `from`: after the opening one. */
function endOfText(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  for (let at = from; at < length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH || byte < SPACE) return NOT_PLAIN;
  }
  return NOT_PLAIN;
}

/** Any number of so many digits is a double of its own, whose shortest text has the same digits. */
const DIGITS_MAX = 15;
/** Larger numbers are no properties. */
const WHOLE_DIGITS_MAX = 13;
/** JavaScript writes smaller fractions with an exponent. */
const FRACTION_DIGITS_OF_ZERO_MAX = 6;

function endOfNumber(bytes: Uint8Array, at: number): number {
  const from = bytes[at] === MINUS ? at + 1 : at;
  const point = endOfDigits(bytes, from);
  const whole = point - from;
  if (whole === 0 || whole > WHOLE_DIGITS_MAX) return NOT_PLAIN;
  const isZero = bytes[from] === ZERO;
  if (isZero && whole > 1) return NOT_PLAIN;
  if (bytes[point] !== POINT) return isZero && from > at ? NOT_PLAIN : point;
  const until = endOfDigits(bytes, point + 1);
  const fraction = until - point - 1;
  if (fraction === 0 || bytes[until - 1] === ZERO || whole + fraction > DIGITS_MAX) return NOT_PLAIN;
  return isZero && fraction > FRACTION_DIGITS_OF_ZERO_MAX ? NOT_PLAIN : until;
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at]! >= ZERO && bytes[at]! <= NINE) at += 1;
  return at;
}

/** The whole number that stands in [from, until); NaN for anything else. */
export function wholeNumber(bytes: Uint8Array, from: number, until: number): number {
  let value = 0;
  for (let at = from; at < until; at += 1) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** Where the next byte stands that is no white space. */
export function afterSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB) return at;
    at += 1;
  }
}

/** Where the value of a member begins whose name ends at `from`. */
export function afterColon(bytes: Uint8Array, from: number): number {
  const at = afterSpace(bytes, from);
  return bytes[at] === COLON ? afterSpace(bytes, at + 1) : NOT_PLAIN;
}

/** Where the object or list that begins at `from` ends, if its brackets and quotes are in order. */
export function endOfNested(bytes: Uint8Array, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        for (at += 1; at < bytes.length && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
        break;
      case OPEN_OBJECT:
      case OPEN_LIST:
        depth += 1;
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
    }
  }
  return NOT_PLAIN;
}

export function bytesOf(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text));
}

/** Whether these bytes stand at `at`. */
export function isAt(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index += 1) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}
