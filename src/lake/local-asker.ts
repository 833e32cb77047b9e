import { availableParallelism } from "node:os";
import type { Config } from "../config.ts";
import { UsageError } from "../errors.ts";
import { type AskTask, ask } from "./ask.ts";
import { Asker } from "./asker.ts";
import { makeInstance } from "./instance.ts";
import { LakeFolder, lakeFolderOf } from "./lake-folder.ts";
import { isEngineInstalled } from "./lake-loop.ts";

/** Answers questions in this process, which is a command that does nothing else. */
export async function localAsker(config: Config): Promise<Asker> {
  if (!isEngineInstalled()) throw new UsageError("The engine of the lake is not installed: see docs/LAKE.md.");
  const folder = await LakeFolder.open(lakeFolderOf(config));
  const limits = { memoryBytes: config.lakeMemoryBytes, threads: availableParallelism() };
  const takeInstance = () => makeInstance(limits);
  const engine = { ask: (task: AskTask) => ask(task, { takeInstance }), cancel: async () => {}, stop: () => {} };
  return new Asker({ engine, root: folder.root, freeBytesMin: config.diskFreeBytesMin });
}
