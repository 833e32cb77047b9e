import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Attempt, environment, ROOT } from "./launch.ts";

/** Someone without rights on the package; whoever runs the tests if that is not root. */
const NOBODY = 65_534;
const asNobody = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
/** What an installed package may take, in bytes. Most of it are PostgreSQL and the columnar engine: 8 MB more on x64 than on arm64. */
const INSTALLED_BYTES_MAX = 190e6;

let folder: string;
/** The packed file with the packages that it needs to run, as `npm install` would lay them out. Nothing may be written. */
let installed: string;
let packedFiles: string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "touchpoint-packed-"));
  chmodSync(folder, 0o755);
  const [packed] = JSON.parse(npm("pack", "--json", "--ignore-scripts", "--pack-destination", folder)) as [
    { filename: string; files: { path: string }[] },
  ];
  packedFiles = packed.files.map(({ path }) => path);
  execFileSync("tar", ["-xzf", join(folder, packed.filename), "-C", folder]);
  installed = join(folder, "package");
  const needed = npm("ls", "--omit=dev", "--all", "--parseable").trim().split("\n").slice(1);
  for (const path of needed)
    cpSync(path, join(installed, relative(ROOT, path)), { recursive: true, verbatimSymlinks: true });
  execFileSync("chmod", ["-R", "a+rX,a-w", installed]);
});
afterAll(() => {
  execFileSync("chmod", ["-R", "u+w", installed]);
  rmSync(folder, { recursive: true, force: true });
});

function npm(...args: string[]): string {
  return execFileSync("npm", args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64e6,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

test("the packed file has the built server, the console and the migrations, and nothing of the tests", () => {
  const has = (path: string) => packedFiles.includes(path);
  for (const path of [
    "dist/bundle/cli.js",
    "dist/bundle/main.js",
    "dist/bundle/LICENSES.txt",
    "dist/web/index.html",
    "bin/start.sh",
    "README.md",
    "LICENSE",
  ])
    expect(has(path), path).toBe(true);
  expect(packedFiles.some((path) => path.startsWith("migrations/"))).toBe(true);
  expect(packedFiles.filter((path) => /^(?:test|sim|bench|web|dist\/(?:src|test|sim|bench))\//.test(path))).toEqual([]);
  expect(readFileSync(join(installed, "dist/bundle/cli.js"), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
});

test("what is installed takes at most 190 MB", () => {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
  expect(bytes).toBeLessThan(INSTALLED_BYTES_MAX);
});

test("an ordinary user runs it by its command from a folder that nobody may write to", async () => {
  const bin = join(folder, "touchpoint");
  symlinkSync(join(installed, "dist/bundle/cli.js"), bin);
  const dataDir = join(folder, "data");
  mkdirSync(dataDir);
  if (asNobody.uid !== undefined) chownSync(dataDir, asNobody.uid, asNobody.gid);
  const env = environment({ DATA_DIR: dataDir, HOME: dataDir });
  const run = (...args: string[]) => new Attempt(process.execPath, [bin, ...args], { env, cwd: dataDir, ...asNobody });

  const version = run("--version");
  expect(await version.ended(), version.stderr).toBe(0);
  expect(version.stdout.trim()).toBe(JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version);

  const server = run("serve");
  const ready = await server.prints(/ready at (http:\S+)/);
  expect(ready, server.stderr).toBeDefined();
  expect(server.stdout).toContain(`\`DATA_DIR=${dataDir} touchpoint admin link\``);
  const url = ready![1]!;
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({ code: 0, data: { database: "there" } });
  expect(await (await fetch(`${url}/console/`)).text()).toMatch(/^<!doctype html>/i);
  const apps = run("app", "list", "--json");
  expect(await apps.ended(), apps.stderr).toBe(0);
  expect(apps.stdout).toContain("Demo");
  expect(await server.end("SIGTERM")).toBe(0);
});
