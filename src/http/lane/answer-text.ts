import { STATUS_CODES } from "node:http";
import { systemClock } from "../../clock.ts";

/** How long a connection may stay open between two requests. */
export const KEEP_ALIVE_MS = 75_000;

const OPEN = `Connection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n`;

/** A whole answer, with the headers that node:http adds. */
export function answerText(status: number, headers: Readonly<Record<string, string | number>>, body: string): string {
  let lines = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return `${lines}${dateLine()}${headers.connection === undefined ? OPEN : ""}\r\n${body}`;
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
