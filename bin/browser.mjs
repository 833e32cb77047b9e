// The browser for the tests: Debian's Chromium. Installs it if it is missing and this user may; otherwise says what to
// install.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const PLACES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map(
  (name) => `/usr/bin/${name}`,
);
const MISSING =
  "The console's tests need Chromium: install the package `chromium-headless-shell` or `chromium` (Debian: apt-get install chromium-headless-shell).";

if (!PLACES.some((path) => existsSync(path))) {
  const mayInstall = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  if (!mayInstall) {
    console.error(MISSING);
    process.exit(1);
  }
  console.log("Installing Chromium (once) …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // With a small Chinese font: without one, screenshots would show boxes.
  const packages = ["chromium-headless-shell", "fonts-wqy-microhei"];
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], {
      stdio: ["ignore", "ignore", "inherit"],
      env,
    }).status;
  if (install() !== 0) {
    spawnSync("apt-get", ["update", "-qq"], { stdio: ["ignore", "ignore", "inherit"], env });
    if (install() !== 0) {
      console.error(MISSING);
      process.exit(1);
    }
  }
}
