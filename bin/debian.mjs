// Programs that the tests need and npm does not deliver. A missing one is installed from Debian if this user may; otherwise
// the script says what to install, and fails.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

/** `places`: the paths of the program, any of which will do. */
export function provide({ name, places, packages, missing }) {
  if (places.some((path) => existsSync(path))) return;
  const mayInstall = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  if (mayInstall) {
    console.log(`Installing ${name} (once) …`);
    if (install(packages)) return;
    run("update");
    if (install(packages)) return;
  }
  console.error(missing);
  process.exit(1);
}

function install(packages) {
  return run("install", "-y", "--no-install-recommends", ...packages) === 0;
}

function run(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync("apt-get", ["-qq", ...args], { stdio: ["ignore", "ignore", "inherit"], env }).status;
}
