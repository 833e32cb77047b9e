import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { cleanUp, type TouchpointProcess } from "./touchpoint.ts";

const KEPT = /^(running|ended)-(\d+)$/;

/**
 * Keeps a server for every later file of this worker, because no file knows whether it is the last. It ends with the worker:
 * a server that nobody asks takes 3 % of a core.
 */
export function keepServer({ child, dataDir }: TouchpointProcess): void {
  const file = (state: "running" | "ended") => join(inject("runDir"), `${state}-${child.pid}`);
  const [running, ended] = [file("running"), file("ended")];
  writeFileSync(running, dataDir);
  process.once("exit", () => {
    child.kill("SIGKILL");
    // Its number may belong to another process by the end of the run.
    renameSync(running, ended);
  });
}

/** Stops the kept servers whose worker could not, and removes what all of them have left. */
export async function stopKept(runDir: string): Promise<void> {
  for (const name of readdirSync(runDir)) {
    const [, state, pid] = KEPT.exec(name) ?? [];
    if (state === undefined) continue;
    if (state === "running") endProcess(Number(pid));
    await cleanUp(readFileSync(join(runDir, name), "utf8"));
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The server has ended by itself.
  }
}
