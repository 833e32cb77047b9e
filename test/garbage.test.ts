import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./process/launch.ts";

/** The result of a script in a process of its own, in which timers run at once; the flags of V8 hold for a process. */
function resultOf(script: string): number {
  const code = `
    globalThis.setTimeout = (run) => { run(); return { unref() {} }; };
    const { collectAfterBody, collectOften } = await import(${JSON.stringify(join(ROOT, "dist/src/garbage.js"))});
    ${script}`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" }));
}

/** Keeps 400,000 objects and replaces others again and again; how often the whole heap is collected. */
const COLLECTIONS = `
  let collections = 0;
  const { constants, PerformanceObserver } = await import("node:perf_hooks");
  const isWhole = ({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
  new PerformanceObserver((list) => {
    collections += list.getEntries().filter(isWhole).length;
  }).observe({ entryTypes: ["gc"] });
  const live = Array.from({ length: 400_000 }, (_, i) => ({ i, text: String(i) }));
  for (let round = 0; round < 200; round += 1)
    live[round % 20] = Array.from({ length: 20_000 }, (_, i) => ({ i, text: "x" + i }));
  for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => setImmediate(done));
  console.log(collections);`;

test("the heap of a server that has started is collected more often", () => {
  expect(resultOf(`collectOften(); ${COLLECTIONS}`)).toBeGreaterThan(resultOf(COLLECTIONS));
});

test("after a very large body garbage is collected, after others it is not", () => {
  const isCollected = (bytes: number) =>
    resultOf(`
      let body = { bytes: new Uint8Array(1000) };
      const seen = new WeakRef(body);
      body = undefined;
      await new Promise((done) => setImmediate(done));
      collectAfterBody(${bytes});
      console.log(seen.deref() === undefined ? 1 : 0);`);
  expect([isCollected(64e6), isCollected(1000)]).toEqual([1, 0]);
});
