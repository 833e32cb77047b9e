import { readdirSync, readFileSync } from "node:fs";

/** The unit of /proc, the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

type Stat = { pid: number; parent: number; ticks: number };

/** Processor seconds that a process and all below it have taken since their start: the server's PostgreSQL is below it. */
export function processorSeconds(pid: number): number {
  return familyOf(pid).reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
}

/** A process and all below it. */
export function familyOf(pid: number): Stat[] {
  const stats = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const family = new Set([pid]);
  // A child may stand before its parent in the list.
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const stat of stats) if (family.has(stat.parent)) family.add(stat.pid);
  }
  return stats.filter((stat) => family.has(stat.pid));
}

/** Undefined for a process that has just ended; its parent counts its time from then on. */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name stands in parentheses and may contain anything. The state comes first after it, then the parent.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    // The time of the process in user and system mode, and the same of its ended children.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { pid, parent: Number(fields[1]), ticks };
  } catch {
    return undefined;
  }
}
