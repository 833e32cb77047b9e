import type { IncomingMessage } from "node:http";
import { ApiError } from "../errors.ts";

export type Receiver = {
  /** The largest accepted body. */
  bytesMax: number;
  /** Reserves room for received bytes, or returns why there is none. */
  hold: (bytes: number) => ApiError | undefined;
  done: (bytes: Buffer) => void;
  /** Called at most once, and never together with `done`. The callee drains the rest of the body. */
  refuse: (error: ApiError) => void;
  /** The client has hung up. */
  gone: () => void;
};

/**
 * Reads the body of a request. A declared length that is too large is refused unread; without one, bytes are counted as
 * they arrive. A client that hangs up gets no answer, and its bytes are forgotten.
 */
export function receiveBody(request: IncomingMessage, { bytesMax, hold, done, refuse, gone }: Receiver): void {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
    refuse(bodyTooLarge(bytesMax));
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isRefused = false;
  request.on("data", (chunk: Buffer) => {
    if (isRefused) return;
    bytes += chunk.length;
    const refusal = bytes > bytesMax ? bodyTooLarge(bytesMax) : hold(chunk.length);
    if (!refusal) {
      chunks.push(chunk);
      return;
    }
    isRefused = true;
    chunks.length = 0;
    refuse(refusal);
  });
  request.on("end", () => {
    if (!isRefused) done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
  });
  request.on("error", gone);
}

function bodyTooLarge(bytesMax: number): ApiError {
  return new ApiError("bodyTooLarge", `The body is larger than ${bytesMax} bytes.`);
}
