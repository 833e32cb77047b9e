import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Executor } from "../db/engine/sql.ts";
import { loadLakeApp } from "../db/lake-app.ts";
import { loadLakeFiles } from "../db/lake-file.ts";
import { LAKE_KINDS } from "../domain/lake.ts";
import { ApiError } from "../errors.ts";
import { GIB, LIMITS } from "../limits.ts";
import type { AskAnswer, AskTask } from "./ask.ts";
import type { EngineProcess } from "./engine-process.ts";
import { makeTempFolder, pathIn, readLakeId, roomIn } from "./lake-folder.ts";
import { kindsNamedIn, viewsFor } from "./lake-views.ts";

/** A question about one app. `read`: where the list of files is read. */
export type LakeQuestion = {
  read: Executor;
  app: { appId: number; timeZone: string };
  statement: string;
  /**
   * Whether people wrote the statement: then every view is there to be looked at, and the engine chooses how joins are held.
   * Our own get the views that they name, and have their joins as they want them.
   */
  byHand?: boolean;
  rowsMax?: number;
  /** Ends the question, as when whoever asked has left. */
  signal?: AbortSignal;
};

/** The rows of an answer, and how fresh they are. */
export type LakeRows = {
  columns: readonly string[];
  rows: readonly (readonly unknown[])[];
  isCut: boolean;
  tookMs: number;
  /** Events received before this instant are counted. */
  writtenUntilMs: number;
};

/** Rows as objects by the names of their columns. */
export function objectsOf({ columns, rows }: Pick<LakeRows, "columns" | "rows">): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

export type AskerOptions = {
  engine: Pick<EngineProcess, "ask" | "cancel" | "stop">;
  /** The folder of the lake. */
  root: string;
  /** Free space of the disk that questions leave. */
  freeBytesMin: number;
  msMax?: number;
};

/** `into`: the file for its rows. */
type Spooling = LakeQuestion & Pick<AskTask, "into">;

/** How long a question that was told to end may take to do so. */
const END_MS = 5_000;
/** Bytes of the disk that a question may use where memory is not enough. */
const SPILLED_BYTES_MAX = 2 * GIB;
/** A question is told to end until it has: one that is only about to begin does not hear it. */
const CANCEL_AGAIN_MS = 50;

/** Puts questions to the lake, one after the other: each may take all the memory that is allowed. */
export class Asker {
  readonly #options: AskerOptions;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: AskerOptions) {
    this.#options = options;
  }

  ask(question: LakeQuestion): Promise<LakeRows> {
    return this.#inTurn(question);
  }

  /**
   * All rows of an answer of any length, in pieces. They wait in a file, so that whoever reads them slowly holds up no other
   * question.
   */
  async askAll(question: Omit<LakeQuestion, "rowsMax">): Promise<AsyncIterable<LakeRows["rows"]>> {
    const folder = await makeTempFolder(this.#options.root);
    try {
      const into = join(folder, "rows");
      await this.#inTurn({ ...question, into });
      return piecesIn(await open(into));
    } finally {
      // The file is open, and can still be read.
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #inTurn(question: Spooling): Promise<LakeRows> {
    if (this.#waiting >= LIMITS.questionsWaiting)
      throw new ApiError("overloaded", "Too many questions are waiting for an answer; try again.", { retryAfterS: 10 });
    this.#waiting += 1;
    const turn = this.#last.then(() => this.#answer(question));
    this.#last = turn.catch(() => {});
    try {
      return await turn;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Asked once more when files were replaced between the reading of their list and their own. */
  async #answer(question: Spooling): Promise<LakeRows> {
    for (let attempt = 1; ; attempt += 1) {
      question.signal?.throwIfAborted();
      const { read, app } = question;
      const state = await loadLakeApp(read, app.appId);
      if (!state?.isBegun)
        throw new ApiError("overloaded", "The events of this app are being prepared; try again in a minute.", {
          retryAfterS: 60,
        });
      const { root } = this.#options;
      if (state.lakeId !== (await readLakeId(root)))
        throw new ApiError("badParameter", "Another process of this installation writes the lake: ask that one.");
      const files = await loadLakeFiles(read, { appId: app.appId });
      const viewed = files.map((file) => ({ ...file, path: pathIn(root, file) }));
      const { statement, byHand } = question;
      const kinds = byHand ? LAKE_KINDS : kindsNamedIn(statement);
      const asked = viewsFor(viewed, { zone: app.timeZone, statement, kinds });
      const answer = await this.#run(question, { ...asked, files: viewed.map(({ path }) => path) });
      if (answer.kind === "rows") return { ...answer, writtenUntilMs: state.writtenUntilMs };
      if (answer.reason !== "file" || attempt === 2) throw refusal(answer);
    }
  }

  async #run(question: Spooling, asked: Pick<AskTask, "views" | "files" | "statement">): Promise<AskAnswer> {
    const { engine, root, freeBytesMin, msMax = LIMITS.questionMs } = this.#options;
    const { rowsMax = LIMITS.questionRows, byHand, signal, into } = question;
    signal?.throwIfAborted();
    let again: NodeJS.Timeout | undefined;
    const cancel = () => {
      const tell = () => void engine.cancel().catch(() => {});
      tell();
      again = setInterval(tell, CANCEL_AGAIN_MS);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    const ended = new AbortController();
    // An engine that does not end by itself is ended with its process.
    const guard = sleep(msMax + END_MS, undefined, { signal: ended.signal, ref: false }).then(
      () => engine.stop(),
      () => {},
    );
    try {
      const diskBytes = Math.min(SPILLED_BYTES_MAX, await roomIn(root, freeBytesMin));
      const wishes = { ...(!byHand && { joins: "as_written" as const }), ...(into !== undefined && { into }) };
      return await engine.ask({ root, ...asked, diskBytes, rowsMax, msMax, ...wishes });
    } finally {
      ended.abort();
      await guard;
      signal?.removeEventListener("abort", cancel);
      clearInterval(again);
    }
  }
}

async function* piecesIn(file: FileHandle): AsyncGenerator<LakeRows["rows"]> {
  let rest = "";
  for await (const text of file.createReadStream({ encoding: "utf8" })) {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line) as LakeRows["rows"];
  }
}

/** Names of files are of no use to whoever asks. */
function refusal({ reason, message }: Extract<AskAnswer, { kind: "refused" }>): ApiError {
  return new ApiError(
    "badParameter",
    reason === "file" ? "A file of the lake cannot be read; it is written again soon." : message,
  );
}
