import { parentPort, workerData } from "node:worker_threads";
import { ApiError, type CodeName } from "../../errors.ts";
import { type Judged, judgeOrdinary, type SentOrdinary } from "./judge.ts";
import { type AppNews, HeardApps } from "./told-apps.ts";

export type JudgeThreadSettings = { unpackedBytesMax: number };

/** Bodies to judge, with their bytes one after the other. */
export type JudgeBatch = { bodies: HandedBody[]; bytes: Uint8Array };
export type HandedBody = Omit<SentOrdinary, "bytes"> & AppNews & { length: number };

/** What became of a body. */
export type JudgeOutcome =
  | { kind: "judged"; judged: Judged }
  | { kind: "refused"; reason: CodeName; message: string }
  | { kind: "failed"; error: unknown };

/** The outcomes of a batch, in its order. */
export type JudgeMessage = { kind: "ready" } | { kind: "judged"; outcomes: JudgeOutcome[] };

const port = parentPort!;
const { unpackedBytesMax } = workerData as JudgeThreadSettings;
const heard = new HeardApps();

port.on("message", ({ bodies, bytes }: JudgeBatch) => {
  let at = 0;
  const outcomes = bodies.map((body) => {
    const from = at;
    at += body.length;
    return judge(body, Buffer.from(bytes.buffer, bytes.byteOffset + from, body.length));
  });
  tell({ kind: "judged", outcomes });
});

tell({ kind: "ready" });

function judge(body: HandedBody, bytes: Buffer): JudgeOutcome {
  const { form, isPacked, nowMs } = body;
  const metadata = heard.metadataOf(body);
  try {
    const judged = judgeOrdinary({ form, bytes, isPacked, nowMs }, { metadata, unpackedBytesMax });
    return { kind: "judged", judged };
  } catch (error) {
    // The class of an error is lost on its way to another thread.
    if (error instanceof ApiError) return { kind: "refused", reason: error.reason, message: error.message };
    return { kind: "failed", error };
  }
}

function tell(message: JudgeMessage): void {
  port.postMessage(message);
}
