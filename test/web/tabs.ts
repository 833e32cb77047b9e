import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { inject, onTestFinished } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";

/** As bin/browser.mjs has them. The shell has no window to draw: it takes a fifth less processor time. */
const BROWSER_PATHS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"].map(
  (name) => `/usr/bin/${name}`,
);
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  ...["--disable-sync", "--no-first-run"],
  // Pages here live for seconds: optimising their code costs more than it saves.
  "--js-flags=--no-opt --no-maglev",
];

export const SIZES = { laptop: { width: 1360, height: 860 }, phone: { width: 390, height: 844 } } as const;

export type Size = keyof typeof SIZES;

let browser: Promise<Browser> | undefined;
const idle: Page[] = [];

/** A tab until the end of the test. */
export async function takeTab(size: Size): Promise<Page> {
  const page = await borrowTab();
  await page.setViewportSize(SIZES[size]);
  onTestFinished(() => giveBack(page));
  return page;
}

/**
 * A tab that is signed out and remembers nothing, until it is given back. Later tests use it again, those of other files
 * included: a new tab starts a process and compiles the whole console, which takes three times the processor time of a page
 * in a used one.
 */
export async function borrowTab(): Promise<Page> {
  return idle.pop() ?? newTab();
}

async function newTab(): Promise<Page> {
  browser ??= startBrowser();
  const context = await (await browser).newContext({ locale: "en-GB", reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  return page;
}

/** Leaves the page: the next test's page loads over it, and an empty one in between would take as long. */
export async function giveBack(page: Page): Promise<void> {
  page.removeAllListeners();
  try {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.evaluate("localStorage.clear(); sessionStorage.clear()");
    await page.context().clearCookies();
    idle.push(page);
  } catch {
    // A tab that cannot be reset is not worth a failure: the next test gets a new one.
    await page.context().close();
  }
}

/** One browser for all files that this process runs; it ends with the process. */
async function startBrowser(): Promise<Browser> {
  const executablePath = BROWSER_PATHS.find((path) => existsSync(path));
  if (!executablePath) throw new Error("There is no Chromium: install the package `chromium`.");
  // Playwright ends the browser when the process exits, which a signal alone would not let it do.
  process.once("SIGTERM", () => process.exit());
  const { TMPDIR } = process.env;
  // The folder of the profile: an ending process has no time to remove it.
  process.env.TMPDIR = inject("runDir");
  try {
    const options = { executablePath, headless: true, args: FLAGS, timeout: PATIENCE_MS, handleSIGTERM: false };
    return await chromium.launch(options);
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  }
}
