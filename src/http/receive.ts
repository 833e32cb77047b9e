import type { IncomingMessage } from "node:http";
import { LIMITS } from "../config.ts";
import { ApiError } from "../errors.ts";

export type Receiver = {
  /** The largest body that is taken. */
  bytesMax: number;
  done: (bytes: Buffer) => void;
  /** Called once at most, and then `done` is not. What is still to come is for the caller to drain. */
  refuse: (error: ApiError) => void;
};

/**
 * Reads the body of a request. One that says it is too long is refused unread; one that does not say is counted as it
 * comes. A client that hangs up gets no answer, and what it had sent is forgotten.
 */
export function receiveBody(request: IncomingMessage, { bytesMax, done, refuse }: Receiver): void {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    refuse(bodyTooLarge(bytesMax));
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    if (bytes > bytesMax) return;
    bytes += chunk.length;
    if (bytes <= bytesMax) {
      chunks.push(chunk);
      return;
    }
    chunks.length = 0;
    refuse(bodyTooLarge(bytesMax));
  });
  request.on("end", () => {
    if (bytes <= bytesMax) done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  });
  request.on("error", () => {});
}

/**
 * For an answer that is given before the body has come: reads the rest and throws it away. True where that would be too
 * much, so that the connection has to be closed. Closing while the client still writes may reach it before the answer
 * does, so what is not too long is read to its end.
 */
export function mustCloseUnread(request: IncomingMessage): boolean {
  if (request.complete) return false;
  request.resume();
  return !(Number(request.headers["content-length"]) <= LIMITS.unreadBytes);
}

function bodyTooLarge(bytesMax: number): ApiError {
  return new ApiError("bodyTooLarge", `The body is larger than ${bytesMax} bytes.`);
}
