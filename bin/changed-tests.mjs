// The test files that a change touches, for `npm test -- --changed [BASE]`.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const ALWAYS = "test/tidy.test.ts";
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g;

/** Test files for everything that differs from a commit, uncommitted files included. */
export function changedTests(root, base) {
  const git = (...args) => {
    const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(stderr.trim());
    return stdout.split("\n").filter(Boolean);
  };
  const changed = [...git("diff", "--name-only", base), ...git("ls-files", "--others", "--exclude-standard")];
  return testsFor(root, changed);
}

/**
 * A test file selects itself. Any other file selects the tests that import it, directly or through other files below test/;
 * if there are none, those of the folder that mirrors its own.
 */
export function testsFor(root, changed) {
  const files = readdirSync(join(root, "test"), { recursive: true })
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith(".ts"));
  const importers = importersOf(root, files);
  const found = new Set([ALWAYS]);
  for (const file of changed) {
    const tests = testsBehind(file, importers);
    if (tests.length === 0 && !file.startsWith("test/")) tests.push(...folderTests(file, files));
    if (file.endsWith(".md")) tests.push("test/docs.test.ts");
    for (const test of tests) if (existsSync(join(root, test))) found.add(test);
  }
  return [...found].sort();
}

function importersOf(root, files) {
  const importers = new Map();
  for (const file of files) {
    for (const [, target] of readFileSync(join(root, file), "utf8").matchAll(IMPORT)) {
      const imported = relative(root, resolve(root, dirname(file), target));
      importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return importers;
}

function testsBehind(file, importers, seen = new Set()) {
  if (seen.has(file)) return [];
  seen.add(file);
  if (file.endsWith(".test.ts")) return [file];
  return (importers.get(file) ?? []).flatMap((importer) => testsBehind(importer, importers, seen));
}

function folderTests(file, files) {
  const [, page] = /^web\/src\/pages\/([^/]+)\//.exec(file) ?? [];
  const ofPage = files.filter((test) => page && test.startsWith(`test/web/${page}`) && test.endsWith(".test.ts"));
  if (ofPage.length > 0) return ofPage;
  let folder = dirname(file)
    .replace(/^src\b/, "test")
    .replace(/^web\b.*/, "test/web");
  for (; folder !== "." && folder !== "test"; folder = dirname(folder)) {
    const tests = files.filter((test) => test.startsWith(`${folder}/`) && test.endsWith(".test.ts"));
    if (tests.length > 0) return tests;
  }
  return [];
}
