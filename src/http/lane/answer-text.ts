import { STATUS_CODES } from "node:http";
import { systemClock } from "../../clock.ts";
import { JSON_TYPE } from "../answer.ts";

/** How long a connection may stay open between two requests. */
export const KEEP_ALIVE_MS = 75_000;

const OK = "200 OK";
const OPEN = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n`;

type AnswerHead = { status: number; headers: Readonly<Record<string, string>> | undefined; bytes: number };

/** A whole answer, with the headers that node:http adds. */
export function answerText({ status, headers, bytes }: AnswerHead, body: string): string {
  let more = "";
  if (headers) for (const [name, value] of Object.entries(headers)) more += `${name}: ${value}\r\n`;
  if (headers?.connection === undefined) more += OPEN;
  const outcome = status === 200 ? OK : `${status} ${STATUS_CODES[status]}`;
  return `HTTP/1.1 ${outcome}\r\ncontent-type: ${JSON_TYPE}\r\ncontent-length: ${bytes}\r\n${dateLine()}${more}\r\n${body}`;
}

let secondOfLine = 0;
let line = "";

function dateLine(): string {
  const nowMs = systemClock();
  const second = Math.floor(nowMs / 1000);
  if (second !== secondOfLine) {
    secondOfLine = second;
    line = `Date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return line;
}
