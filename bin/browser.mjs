// The browser for the tests: Debian's Chromium.
import { provide } from "./debian.mjs";

provide({
  name: "Chromium",
  places: ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map(
    (name) => `/usr/bin/${name}`,
  ),
  // With a small Chinese font: without one, screenshots would show boxes.
  packages: ["chromium-headless-shell", "fonts-wqy-microhei"],
  missing:
    "The console's tests need Chromium: install the package `chromium-headless-shell` or `chromium` (Debian: apt-get install chromium-headless-shell).",
});
