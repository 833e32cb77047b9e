import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { elapsedMs } from "../src/clock.ts";
import { type Figure, median } from "./figures.ts";

const BYTES = 4096;
const SYNCS = 200;

/** The time that the disk itself takes to make a block durable: each group of requests waits at least that long. */
export function syncFigure(folder: string): Figure {
  const fd = openSync(join(folder, "sync"), "w");
  const block = Buffer.alloc(BYTES, "x");
  const times = Array.from({ length: SYNCS }, () => {
    writeSync(fd, block);
    const startedMs = elapsedMs();
    fdatasyncSync(fd);
    return elapsedMs() - startedMs;
  }).sort((left, right) => left - right);
  closeSync(fd);
  return {
    name: "disk_sync",
    what: "fdatasync of 4 KiB, p99",
    unit: "ms",
    ours: times[Math.floor(SYNCS * 0.99)]!,
    bare: median(times),
    beside: "its median",
    target: "",
  };
}
