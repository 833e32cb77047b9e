import { pino } from "pino";
import { expect, test } from "vitest";
import { Stages } from "../src/stages.ts";
import { PATIENCE_MS } from "./support/patience.ts";

function stages() {
  const said: string[] = [];
  return { said, stages: new Stages(pino({ level: "warn" }, { write: (line: string) => said.push(line) })) };
}

test("what was started last stops first, and the parts of a stage at the same time", async () => {
  const { stages: all, said } = stages();
  const order: string[] = [];
  const part = (name: string) => ({ name, stop: () => void order.push(name) });
  all.add(PATIENCE_MS, part("database"));
  let meet = () => {};
  const met = new Promise<void>((resolve) => (meet = resolve));
  all.add(PATIENCE_MS, { name: "one", stop: () => met }, { name: "other", stop: () => meet() });
  all.add(PATIENCE_MS, part("requests"));
  await all.stop();
  expect([order, said]).toEqual([["requests", "database"], []]);
});

test("a part that hangs or fails is left behind, by name, and the rest stops", async () => {
  const { stages: all, said } = stages();
  const stopped: string[] = [];
  all.add(PATIENCE_MS, { name: "last", stop: () => void stopped.push("last") });
  all.add(PATIENCE_MS, { name: "fails", stop: () => Promise.reject(new Error("It is broken.")) });
  // The first to stop: it has its own time only, not what others have left over.
  all.add(1, { name: "hangs", stop: () => new Promise<void>(() => {}) });
  await all.stop();
  expect(stopped).toEqual(["last"]);
  expect(said.map((line) => JSON.parse(line))).toMatchObject([
    { part: "hangs" },
    { part: "fails", reason: "It is broken." },
  ]);
});

test("time that a stage leaves over goes to the next", async () => {
  const { stages: all } = stages();
  const given: number[] = [];
  all.add(PATIENCE_MS, { name: "database", stop: (ms) => void given.push(ms) });
  all.add(PATIENCE_MS, { name: "requests", stop: (ms) => void given.push(ms) });
  await all.stop();
  expect(given[0]).toBe(PATIENCE_MS);
  expect(given[1]).toBeGreaterThan(PATIENCE_MS);
});
