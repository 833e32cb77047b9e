/**
 * JSON with everything that a signature is made of and JSON.parse forgets: numbers as they were written, keys in the
 * order in which they came. The text has been parsed before, so it is known to be valid.
 */
export type RawJson =
  | { kind: "object"; members: readonly (readonly [key: string, value: RawJson])[] }
  | { kind: "array"; items: readonly RawJson[] }
  | { kind: "string"; value: string }
  /** A number, true, false or null, as written. */
  | { kind: "token"; text: string };

const STRING = /"(?:[^"\\]|\\.)*"/y;
const TOKEN = /[^\s,\]}]+/y;
const SPACE = /\s*/y;

export function parseRawJson(text: string): RawJson {
  let at = 0;
  const skipSpace = () => {
    SPACE.lastIndex = at;
    SPACE.exec(text);
    at = SPACE.lastIndex;
  };
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) throw new Error("The text is not JSON.");
    at = pattern.lastIndex;
    return match[0];
  };
  const readString = (): string => JSON.parse(take(STRING)) as string;
  /** The items between two brackets, each read by `read`. */
  const readList = <T>(close: string, read: () => T): T[] => {
    const list: T[] = [];
    at += 1;
    for (;;) {
      skipSpace();
      if (text[at] === close) break;
      list.push(read());
      skipSpace();
      if (text[at] === ",") at += 1;
    }
    at += 1;
    return list;
  };
  const readMember = (): readonly [string, RawJson] => {
    const key = readString();
    skipSpace();
    at += 1;
    return [key, readValue()];
  };
  const readValue = (): RawJson => {
    skipSpace();
    switch (text[at]) {
      case "{":
        return { kind: "object", members: readList("}", readMember) };
      case "[":
        return { kind: "array", items: readList("]", readValue) };
      case '"':
        return { kind: "string", value: readString() };
      default:
        return { kind: "token", text: take(TOKEN) };
    }
  };
  return readValue();
}
