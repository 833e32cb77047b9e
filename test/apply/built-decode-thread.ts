import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { DecodeThread } from "../../src/apply/entry/decode-thread.ts";
import { ROOT } from "../process/launch.ts";

/** The built one, because a thread runs no TypeScript. */
export async function builtDecodeThread(): Promise<DecodeThread> {
  const built = await import(pathToFileURL(join(ROOT, "dist/src/apply/entry/decode-thread.js")).href);
  return new built.DecodeThread();
}
