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

/** Keeps 400,000 objects and replaces others again and again; the most that the heap takes, in bytes. */
const HEAP_MAX = `
  const live = Array.from({ length: 400_000 }, (_, i) => ({ i, text: String(i) }));
  let max = 0;
  for (let round = 0; round < 200; round += 1) {
    live[round % 20] = Array.from({ length: 20_000 }, (_, i) => ({ i, text: "x" + i }));
    max = Math.max(max, process.memoryUsage().heapTotal);
  }
  console.log(max);`;

test("the heap of a server that has started grows less before garbage is collected", () => {
  expect(resultOf(`collectOften(); ${HEAP_MAX}`)).toBeLessThan(0.8 * resultOf(HEAP_MAX));
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
