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
  const lines = bytes.toString("latin1", 0, end).split("\r\n");
  const [, method, url] = REQUEST_LINE.exec(lines[0]!) ?? [];
  if (method === undefined || url === undefined) return undefined;
  const headers: { [Name in DoorHeader]?: string } = {};
  let contentLength = -1;
  for (let at = 1; at < lines.length; at += 1) {
    const [, name, value] = HEADER_LINE.exec(lines[at]!) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const lower = name.toLowerCase();
    if (KEPT.has(lower)) {
      if (headers[lower as DoorHeader] !== undefined) return undefined;
      headers[lower as DoorHeader] = value;
    } else if (lower === "content-length") {
      if (contentLength >= 0 || !LENGTH.test(value)) return undefined;
      contentLength = Number(value);
    } else if (lower === "connection") {
      if (value.toLowerCase() !== "keep-alive") return undefined;
    } else if (UNUSUAL.has(lower)) return undefined;
  }
  // Without a host a request is refused. The body of a GET means nothing, and a POST without a length has none.
  if (headers.host === undefined || (method === "GET" ? contentLength > 0 : contentLength < 0)) return undefined;
  return { method, url, headers, contentLength: Math.max(0, contentLength), bytes: end + END.length };
}
