import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { PACKAGE } from "../../src/package-folder.ts";
import { Attempt, CLI, environment } from "../process/launch.ts";
import { sharedServer } from "../support/shared-server.ts";

const { dataDir } = sharedServer();

/** The files of the package that a command loads, as the engine tells, and their size. */
async function loadedBy(...args: string[]): Promise<{ files: string[]; kib: number }> {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-loaded-"));
  try {
    const env = environment({ DATA_DIR: dataDir, NODE_V8_COVERAGE: folder });
    const attempt = new Attempt(process.execPath, [CLI, ...args], { env });
    expect(await attempt.ended(), attempt.stderr).toBe(0);
    const [written] = readdirSync(folder);
    const { result } = JSON.parse(readFileSync(join(folder, written!), "utf8")) as { result: { url: string }[] };
    const files = result.flatMap(({ url }) =>
      /^file:|^dist\//.test(url) ? [fileURLToPath(new URL(url, PACKAGE))] : [],
    );
    return { files, kib: files.reduce((sum, file) => sum + statSync(file).size, 0) / 1024 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Loading is what a simple command takes its time for. */
test.each([
  { args: ["--version"], filesMax: 10, kibMax: 150 },
  { args: ["--help"], filesMax: 10, kibMax: 150 },
  { args: ["app", "list", "--json"], filesMax: 30, kibMax: 600 },
])("$args loads at most $filesMax files of $kibMax KiB", async ({ args, filesMax, kibMax }) => {
  const { files, kib } = await loadedBy(...args);
  expect(files).toContain(CLI);
  expect(files.length, files.join("\n")).toBeLessThanOrEqual(filesMax);
  expect(kib).toBeGreaterThan(50);
  expect(kib).toBeLessThanOrEqual(kibMax);
});
