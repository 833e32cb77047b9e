import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { FastifyReply } from "fastify";
import { ApiError } from "../../../errors.ts";
import { LIMITS } from "../../../limits.ts";
import type { ExportFormat } from "../../../report/list/export.ts";

export const ROWS = "touchpoint-rows";

/** A reader that takes nothing for this long is cut off. */
const STALL_MS_MAX = 60_000;

/** Writes rows, waiting whenever the reader is slow, and returns their number. */
type WriteRows = (write: (text: string) => Promise<void>) => Promise<number>;

/** Exports that are streamed as they are read. Only few run at once. */
export class RowStreams {
  #running = 0;

  assertFree(): void {
    if (this.#running < LIMITS.exportsAtOnce) return;
    const message = `${LIMITS.exportsAtOnce} exports are running; try again.`;
    throw new ApiError("overloaded", message, { retryAfterS: 10 });
  }

  async send(reply: FastifyReply, format: ExportFormat, writeRows: WriteRows): Promise<FastifyReply> {
    const stream = new PassThrough();
    const closing = new AbortController();
    stream.once("close", () => closing.abort());
    const write = async (text: string) => {
      if (stream.destroyed) throw new Error("The reader has gone.");
      if (stream.write(text)) return;
      await once(stream, "drain", { signal: AbortSignal.any([closing.signal, AbortSignal.timeout(STALL_MS_MAX)]) });
    };
    this.#running += 1;
    const exporting = writeRows(write).finally(() => {
      this.#running -= 1;
    });
    exporting.then(
      () => stream.end(),
      (error: Error) => stream.destroy(error),
    );
    reply.trailer(ROWS, async () => String(await exporting));
    reply.type(format === "csv" ? "text/csv; charset=utf-8" : "application/x-ndjson");
    return reply.send(stream);
  }
}
