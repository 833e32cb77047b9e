import type { IncomingMessage } from "node:http";
import { LIMITS } from "../limits.ts";

const BEAT_MS = 5;
/** A piece is 64 KiB at most: about 100 MB a second of all unread bodies together. */
const PIECES_PER_BEAT = 8;

const unread = new Set<IncomingMessage>();
let beat: NodeJS.Timeout | undefined;

/**
 * For an answer that is given before the body has come: reads the rest and throws it away. True where that would be too
 * much, so that the connection has to be closed. Closing while the client still writes may reach it before the answer
 * does, so what is not too long is read to its end.
 */
export function mustCloseUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  throwAway(request);
  return !(Number(request.headers["content-length"]) <= LIMITS.unreadBytes);
}

/** Piece by piece, in turns with the others: hundreds of refused bodies at once would keep everybody else waiting. */
function throwAway(request: IncomingMessage): void {
  if (unread.has(request)) return;
  unread.add(request);
  request.pause();
  request.on("data", () => request.pause());
  request.once("close", () => unread.delete(request));
  beat ??= setInterval(readSome, BEAT_MS).unref();
}

function readSome(): void {
  for (const request of [...unread].slice(0, PIECES_PER_BEAT)) {
    // To the end of the line.
    unread.delete(request);
    if (request.complete || request.destroyed) continue;
    unread.add(request);
    request.resume();
  }
  if (unread.size > 0) return;
  clearInterval(beat);
  beat = undefined;
}
