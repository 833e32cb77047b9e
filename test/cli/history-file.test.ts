import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Block, blocksOf, checkHistory } from "../../src/cli/operation/history-file.ts";
import { linesOf } from "../../src/intake/history-line.ts";
import { LIMITS } from "../../src/limits.ts";

const folder = mkdtempSync(join(tmpdir(), "touchpoint-history-file-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(text: string): string {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.ndjson`);
  writeFileSync(file, text);
  return file;
}

async function all(file: string): Promise<Block[]> {
  const blocks: Block[] = [];
  for await (const block of blocksOf(file)) blocks.push(block);
  return blocks;
}

const line = (client: string, index: number, more = "") => JSON.stringify({ client_id: client, index, more });

test("the lines of a client stand together in their order, each with its number in the file", async () => {
  const text = `\ufeff${line("b", 0)}\n${line("a", 1)}\n\n${line("b", 2)}\r\n${line("a", 3)}\n${line("c", 4)}`;
  const file = fileOf(text);
  expect(await checkHistory(file)).toBe(5);
  const [block, ...others] = await all(file);
  expect(others).toEqual([]);
  const sent = [...linesOf(block!.bytes)].map((one) => JSON.parse(String(one)));
  expect(sent.map(({ client_id, index }) => `${client_id}${index}`)).toEqual(["b0", "b2", "a1", "a3", "c4"]);
  expect(block!.numbers).toEqual([1, 4, 2, 5, 6]);
});

test("blocks are no larger than the server takes, and hold every line once", async () => {
  const lines = Array.from({ length: 90 }, (_, index) => line(`c${index % 7}`, index, "x".repeat(100_000)));
  const blocks = await all(fileOf(`${lines.join("\n")}\n`));
  expect(blocks.length).toBeGreaterThan(2);
  for (const { bytes } of blocks) expect(bytes.length).toBeLessThanOrEqual(LIMITS.historyBytes);
  const sent = blocks.flatMap(({ bytes, numbers }) =>
    [...linesOf(bytes)].map((one, index) => ({ text: String(one), number: numbers[index] })),
  );
  expect(sent.toSorted((one, other) => one.number! - other.number!)).toEqual(
    lines.map((text, index) => ({ text, number: index + 1 })),
  );
});

test("a file without any line end, larger than a block, is refused without being read whole", async () => {
  const file = fileOf("x".repeat(LIMITS.historyBytes + 1));
  await expect(checkHistory(file)).rejects.toThrow(/^Line 1 is longer than/);
});

test("an empty file has no blocks", async () => {
  expect(await all(fileOf(""))).toEqual([]);
});
