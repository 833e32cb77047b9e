import { once } from "node:events";
import { messageOf } from "../errors.ts";

let failure: Error | undefined;

/**
 * Why standard output takes nothing more. Only commands that print without end need to ask: what others go on writing
 * is lost, and they do the rest of their work. (Node.js itself forgets the failure of standard output.)
 */
export function outputFailure(): Error | undefined {
  return failure;
}

/** Writes a part of a long output, once the reader has taken what came before. */
export async function writeOut(text: string): Promise<void> {
  if (failure) throw failure;
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

/** Keeps a failed output from ending the process in the middle of its work. */
export function watchOutput(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    const isFirst = failure === undefined;
    failure ??= error;
    // The reader of a pipe, such as `head`, has seen enough.
    if (error.code === "EPIPE" || !isFirst) return;
    process.stderr.write(`The output cannot be written: ${messageOf(error)}\n`);
    process.exitCode = 1;
  });
  // There is nowhere left to say so.
  process.stderr.on("error", () => {});
}
