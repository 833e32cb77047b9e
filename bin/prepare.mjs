// Makes a fresh clone ready: installs what is missing and builds what has changed. Quick when there is nothing to do.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const installedStamp = join(root, "node_modules", ".installed");
const builtStamp = join(root, "dist", ".built");
const webStamp = join(root, "dist", ".built-web");

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Touchpoint needs Node.js 20.19 or newer; this is ${process.versions.node}.`);
  process.exit(1);
}

const wanted = createHash("sha256")
  .update(readFileSync(join(root, "package-lock.json")))
  .digest("hex");
if (readStamp(installedStamp) !== wanted) {
  console.error("Installing the packages (once, about half a minute) …");
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], "The packages could not be installed.");
  writeFileSync(installedStamp, wanted);
}

const sources = fingerprint([
  "src",
  "bin/bundle.mjs",
  "bin/compile.mjs",
  "bin/load.cjs",
  "bench",
  "sim",
  "test/report/oracle.ts",
  "test/report/oracle-ads.ts",
  "test/report/oracle-days.ts",
  "test/report/oracle-hours.ts",
  "test/report/oracle-market.ts",
  "tsconfig.json",
  "tsconfig.build.json",
  "package-lock.json",
]);
if (readStamp(builtStamp) !== sources) {
  console.error("Building …");
  // What was built from files that no longer exist would otherwise stay, and be packed.
  for (const name of ["src", "sim", "bench", "test"])
    rmSync(join(root, "dist", name), { recursive: true, force: true });
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  run(process.execPath, [tsc, "-p", "tsconfig.build.json"], "The build failed.");
  run(process.execPath, [join(root, "bin", "bundle.mjs")], "The bundle could not be built.");
  writeFileSync(builtStamp, sources);
}

const pages = fingerprint(["web", "src/contract", "package-lock.json"]);
if (readStamp(webStamp) !== pages) {
  console.error("Building the console …");
  const vite = join(root, "node_modules", "vite", "bin", "vite.js");
  run(process.execPath, [vite, "build", "web", "--logLevel", "warn"], "The console could not be built.");
  writeFileSync(webStamp, pages);
}

function readStamp(file) {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/**
 * Path, size and time of every source: reading them whole would make each start slower for nothing. And the version of
 * Node.js, for which the bundle is compiled.
 */
function fingerprint(entries) {
  const hash = createHash("sha256").update(process.version);
  const visit = (path) => {
    const stat = statSync(path);
    if (stat.isDirectory()) for (const name of readdirSync(path).sort()) visit(join(path, name));
    else hash.update(`${path.slice(root.length)} ${stat.size} ${stat.mtimeMs}\n`);
  };
  for (const entry of entries) visit(join(root, entry));
  return hash.digest("hex");
}

function run(command, args, failure) {
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" });
  if (result.status === 0) return;
  console.error(failure);
  process.exit(1);
}
