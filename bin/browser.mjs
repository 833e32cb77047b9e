// The browser of the tests: Debian's Chromium. Installed where it is missing and may be; otherwise says what to install.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const MISSING = "The console's tests need Chromium: install the package `chromium` (Debian: apt-get install chromium).";

if (!PLACES.some((path) => existsSync(path))) {
  const mayInstall = process.getuid?.() === 0 && existsSync("/usr/bin/apt-get");
  if (!mayInstall) {
    console.error(MISSING);
    process.exit(1);
  }
  console.log("Installing Chromium (once) …");
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  // With a small font for Chinese: the screenshots would show boxes.
  const packages = ["chromium", "fonts-wqy-microhei"];
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
