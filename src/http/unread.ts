import type { IncomingMessage } from "node:http";
import { LIMITS } from "../limits.ts";

const BEAT_MS = 5;
/** A piece is at most 64 KiB: all unread bodies together are read at about 100 MB a second. */
const PIECES_PER_BEAT = 8;

const unread = new Set<IncomingMessage>();
let beat: NodeJS.Timeout | undefined;

/**
 * Discards the rest of a body when the answer is sent before the body has arrived. Returns true when the rest is too
 * long and the connection has to be closed. A close while the client still writes may reach it before the answer does,
 * so a body that is not too long is read to its end.
 */
export function mustCloseUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  throwAway(request);
  return !(Number(request.headers["content-length"]) <= LIMITS.unreadBytes);
}

/** Reads piece by piece, in turns: hundreds of refused bodies read at once would keep other requests waiting. */
function throwAway(request: IncomingMessage): void {
  if (unread.has(request)) return;
  unread.add(request);
  request.pause();
  // The last pieces may still wait here when the whole body has come: they are read without a pause.
  request.on("data", () => void (request.complete || request.pause()));
  request.once("close", () => unread.delete(request));
  beat ??= setInterval(readSome, BEAT_MS).unref();
}

function readSome(): void {
  for (const request of [...unread].slice(0, PIECES_PER_BEAT)) {
    // Deleted and added again, so that it moves to the end of the queue.
    unread.delete(request);
    if (request.destroyed) continue;
    if (!request.complete) unread.add(request);
    request.resume();
  }
  if (unread.size > 0) return;
  clearInterval(beat);
  beat = undefined;
}
