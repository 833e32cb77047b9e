import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";

/** When, of which code and on what figures were made: without that nobody can make them again. */
export type Made = { date: string; commit: string; machine: string };

/** To be asked before anything is measured: the code that runs is the one that is there then. */
export function madeAt(nowMs: number): Made {
  const [core] = cpus();
  const parts = [
    `${cpus().length} cores (${core?.model.trim() || "unknown"})`,
    `${Math.round(totalmem() / 2 ** 30)} GiB`,
  ];
  const machine = [...parts, `Node ${process.version} (${process.platform} ${process.arch})`].join(", ");
  return { date: new Date(nowMs).toISOString().slice(0, 10), commit: commitOf(), machine };
}

export function madeText({ date, commit, machine }: Made): string {
  return `Made on ${date} at commit ${commit}, on ${machine}.`;
}

/** Ends with `-dirty` where the files are others than the commit's. */
function commitOf(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty", "--exclude", "*"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
