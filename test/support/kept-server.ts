import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { cleanUp, type TouchpointProcess } from "./touchpoint.ts";

const PREFIX = "server-";

/** Keeps a server for every later file of this worker, because no file knows whether it is the last. */
export function keepServer({ child, dataDir }: TouchpointProcess): void {
  writeFileSync(join(inject("runDir"), `${PREFIX}${child.pid}`), dataDir);
}

/** Stops the kept servers after the last test. */
export async function stopKept(runDir: string): Promise<void> {
  for (const name of readdirSync(runDir).filter((file) => file.startsWith(PREFIX))) {
    try {
      process.kill(Number(name.slice(PREFIX.length)), "SIGKILL");
    } catch {
      // The server has ended with its worker.
    }
    await cleanUp(readFileSync(join(runDir, name), "utf8"));
  }
}
