import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";

/** When, from which code and on what machine figures were made, so that they can be reproduced. */
export type Made = { date: string; commit: string; machine: string };

/** Call this before measuring: it describes the code as it is then. */
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

/** Ends with `-dirty` if the files differ from the commit. */
function commitOf(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty", "--exclude", "*"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
