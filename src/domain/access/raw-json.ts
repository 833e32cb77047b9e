/**
 * JSON with what a signature covers and JSON.parse loses: numbers as written, and keys in their order. The text has
 * been parsed before, so it is known to be valid.
 */
export type RawJson =
  | { kind: "object"; members: readonly (readonly [key: string, value: RawJson])[] }
  | { kind: "array"; items: readonly RawJson[] }
  | { kind: "string"; value: string }
  /** A number, true, false or null, as written. */
  | { kind: "token"; text: string };

const NOT_JSON = "The text is not JSON.";
const TOKEN_END = /[\s,\]}]|$/g;

export function parseRawJson(text: string): RawJson {
  let at = 0;
  const skipSpace = () => {
    while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  };
  const readToken = (): string => {
    TOKEN_END.lastIndex = at;
    const from = at;
    at = TOKEN_END.exec(text)!.index;
    if (at === from) throw new Error(NOT_JSON);
    return text.slice(from, at);
  };
  const readString = (): string => {
    const from = at;
    at = text.indexOf('"', from + 1) + 1;
    const plain = text.slice(from + 1, at - 1);
    if (at > 0 && !plain.includes("\\")) return plain;
    for (at = from + 1; text[at] !== '"'; at += 1) {
      if (at >= text.length) throw new Error(NOT_JSON);
      if (text[at] === "\\") at += 1;
    }
    at += 1;
    return JSON.parse(text.slice(from, at)) as string;
  };
  /** Reads the items between two brackets. */
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
        return { kind: "token", text: readToken() };
    }
  };
  return readValue();
}
