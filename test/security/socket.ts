import { connect } from "node:net";
import { PATIENCE_MS } from "../support/patience.ts";
import type { Touchpoint } from "../support/touchpoint.ts";

export type RawAnswer = { status: number; head: string; body: string };

/** Writes exactly these bytes and reads until the server closes. */
export async function speak(
  server: Touchpoint,
  bytes: string | Buffer | readonly (string | Buffer)[],
): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk.toString("latin1")));
  // A reset connection is closed, too.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  for (const part of [bytes].flat() as (string | Buffer)[]) socket.write(part);
  const late = new Promise<void>((_, reject) => {
    setTimeout(() => reject(new Error(`The server keeps the connection open: ${heard}`)), PATIENCE_MS).unref();
  });
  await Promise.race([closed, late]).finally(() => socket.destroy());
  return heard;
}

/** The answers in the received bytes, in order. */
export function answersIn(heard: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = heard; rest.startsWith("HTTP/1.1 "); ) {
    const end = rest.indexOf("\r\n\r\n");
    const head = rest.slice(0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    answers.push({ status: Number(head.slice(9, 12)), head, body: rest.slice(end + 4, end + 4 + length) });
    rest = rest.slice(end + 4 + length);
  }
  return answers;
}
