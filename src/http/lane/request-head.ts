import { KIB } from "../../limits.ts";
import { DOOR_HEADERS, type DoorHeader, type DoorHeaders } from "../exchange.ts";

const HEAD_BYTES_MAX = 8 * KIB;
const END = Buffer.from("\r\n\r\n");
const REQUEST_LINE = /^(GET|POST) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
/** One blank after the colon, none at the end. */
const HEADER_LINE =
  /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+): ([\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)$/;
const KEPT: ReadonlySet<string> = new Set(DOOR_HEADERS);
/** They change how a message is read, or what is expected before and after it. */
const UNUSUAL: ReadonlySet<string> = new Set([
  "expect",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const LENGTH = /^\d{1,9}$/;

export type RequestHead = {
  method: string;
  url: string;
  headers: DoorHeaders;
  contentLength: number;
  /** The bytes of the head itself, after which the body begins. */
  bytes: number;
};

/**
 * Reads the head of a request that is as plain as nearly all are, or returns undefined: for what is incomplete, unusual or
 * wrong, which node:http reads instead. So whatever two readers of HTTP could understand differently is read by one only.
 */
export function readHead(bytes: Buffer): RequestHead | undefined {
  const end = bytes.indexOf(END);
  if (end < 0 || end > HEAD_BYTES_MAX) return undefined;
  // With the end of the last line.
  const text = bytes.toString("latin1", 0, end + 2);
  let until = text.indexOf("\r\n");
  const [, method, url] = REQUEST_LINE.exec(text.slice(0, until)) ?? [];
  if (method === undefined || url === undefined) return undefined;
  const headers: { [Name in DoorHeader]?: string } = {};
  let contentLength = -1;
  while (until < end) {
    const from = until + 2;
    until = text.indexOf("\r\n", from);
    const header = headerOf(text.slice(from, until));
    if (header === undefined) return undefined;
    if (header === "ignored") continue;
    if (header.name === "content-length") {
      if (contentLength >= 0) return undefined;
      contentLength = Number(header.value);
    } else {
      if (headers[header.name] !== undefined) return undefined;
      headers[header.name] = header.value;
    }
  }
  // Without a host a request is refused. The body of a GET means nothing, and a POST without a length has none.
  if (headers.host === undefined || (method === "GET" ? contentLength > 0 : contentLength < 0)) return undefined;
  return { method, url, headers, contentLength: Math.max(0, contentLength), bytes: end + END.length };
}

/** A line that says something to the doors, one that says nothing, or undefined: one that the lane does not read. */
type Header = { name: DoorHeader | "content-length"; value: string } | "ignored" | undefined;

/** Lines repeat from request to request: reading each anew took a tenth of the time of a request. */
const seen = new Map<string, Header>();
const LINES_SEEN_MAX = 1_000;
const LINE_CHARS_SEEN_MAX = 200;

function headerOf(line: string): Header {
  const known = seen.get(line);
  if (known !== undefined) return known;
  // A copy: a part of a longer text keeps all of it in memory, and values are remembered elsewhere too.
  const copy = Buffer.from(line, "latin1").toString("latin1");
  const header = readHeader(copy);
  if (copy.length > LINE_CHARS_SEEN_MAX) return header;
  if (seen.size >= LINES_SEEN_MAX) seen.clear();
  seen.set(copy, header);
  return header;
}

function readHeader(line: string): Header {
  const [, name = "", value = ""] = HEADER_LINE.exec(line) ?? [];
  const lower = name.toLowerCase();
  if (name === "" || UNUSUAL.has(lower)) return undefined;
  if (lower === "connection") return value.toLowerCase() === "keep-alive" ? "ignored" : undefined;
  if (lower === "content-length") return LENGTH.test(value) ? { name: lower, value } : undefined;
  return KEPT.has(lower) ? { name: lower as DoorHeader, value } : "ignored";
}
