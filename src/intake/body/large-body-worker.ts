import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { ApiError, type CodeName } from "../../errors.ts";
import { collectAfterBody } from "../../garbage.ts";
import { LargeTurn } from "../../large-turn.ts";
import { LIMITS } from "../../limits.ts";
import { type JudgedLarge, judgeLarge, type SentLarge } from "./judge.ts";
import { saidBytes } from "./sent-body.ts";
import { type AppNews, HeardApps } from "./told-apps.ts";
import { transferable } from "./transferable.ts";

export type JudgeSettings = { largeTurn: SharedArrayBuffer };

/** A body to judge. */
export type JudgeRequest = Omit<SentLarge, "bytes"> & AppNews & { bytes: Uint8Array<ArrayBuffer> };

export type JudgeReply =
  | { kind: "judged"; judged: Omit<JudgedLarge, "body"> & { body: Uint8Array<ArrayBuffer> } }
  | { kind: "refused"; reason: CodeName; message: string };

const PRIORITY = 5;

// On Linux a priority belongs to one thread, so the many small bodies can come before the few large ones.
if (process.platform === "linux") setPriority(PRIORITY);

const port = parentPort!;
const heard = new HeardApps();
const largeTurn = new LargeTurn((workerData as JudgeSettings).largeTurn);

port.on("message", async (request: JudgeRequest) => {
  const plainBytes = saidBytes(Buffer.from(request.bytes.buffer), request.headers);
  if (plainBytes <= LIMITS.applyBatchBytes) return judge(request);
  await largeTurn.take();
  judge(request);
  setImmediate(() => {
    collectAfterBody(plainBytes);
    largeTurn.give();
  });
});

function judge({ bytes, appId, metadata, forget, ...sent }: JudgeRequest): void {
  const metadataOfApp = heard.metadataOf({ appId, metadata, forget });
  const sentBytes = Buffer.from(bytes.buffer);
  try {
    const judged = judgeLarge({ ...sent, bytes: sentBytes }, metadataOfApp);
    const body = transferable(judged.body);
    port.postMessage({ kind: "judged", judged: { ...judged, body } } satisfies JudgeReply, [body.buffer]);
  } catch (error) {
    // Any other error ends the thread, and the main thread answers the call.
    if (!(error instanceof ApiError)) throw error;
    port.postMessage({ kind: "refused", reason: error.reason, message: error.message } satisfies JudgeReply);
  }
}
