import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { Attempt, environment, ROOT } from "../process/launch.ts";
import { sharedServer } from "../support/shared-server.ts";

const { dataDir } = sharedServer();
const DELIVERED = join(ROOT, "dist/src/cli.js");

/** The files that a command loads, as the engine tells, and their size. */
async function loadedBy(...args: string[]): Promise<{ files: string[]; kib: number }> {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-loaded-"));
  try {
    const env = environment({ DATA_DIR: dataDir, NODE_V8_COVERAGE: folder });
    const attempt = new Attempt(process.execPath, [DELIVERED, ...args], { env });
    expect(await attempt.ended(), attempt.stderr).toBe(0);
    const [written] = readdirSync(folder);
    const { result } = JSON.parse(readFileSync(join(folder, written!), "utf8")) as { result: { url: string }[] };
    const files = result.flatMap(({ url }) => (url.startsWith("file:") ? [fileURLToPath(url)] : []));
    return { files, kib: files.reduce((sum, file) => sum + statSync(file).size, 0) / 1024 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Loading is what a simple command takes its time for: each file costs about half a millisecond. */
test.each([
  { args: ["--version"], filesMax: 25, kibMax: 250 },
  { args: ["--help"], filesMax: 25, kibMax: 250 },
  { args: ["app", "list", "--json"], filesMax: 120, kibMax: 700 },
])("$args loads at most $filesMax files of $kibMax KiB", async ({ args, filesMax, kibMax }) => {
  const { files, kib } = await loadedBy(...args);
  expect(files).toContain(DELIVERED);
  expect(files.length, files.join("\n")).toBeLessThanOrEqual(filesMax);
  expect(kib).toBeLessThanOrEqual(kibMax);
});

test("libraries of hundreds of files are loaded as one file each", async () => {
  const { files } = await loadedBy("account", "fields", "--platform", "kuaishou");
  expect(files.filter((file) => /node_modules\/(?:typebox|ajv)\//.test(file))).toEqual([]);
  expect(files.some((file) => file.endsWith("dist/src/vendor/typebox.js"))).toBe(true);
});
