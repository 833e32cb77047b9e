import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { type Answer, answerOf, TouchpointProcess } from "../support/touchpoint.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
  ...["--disable-sync", "--no-first-run"],
];
const PICTURES = fileURLToPath(new URL("../../test-output/", import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const PASSWORD = "correct horse battery";
export const SIZES = { laptop: { width: 1360, height: 860 }, phone: { width: 390, height: 844 } } as const;

export type Size = keyof typeof SIZES;
type Look = { theme: "light" | "dark"; language: "en" | "zh" };

/** Each theme and each language once: words do not change what colours do, nor colours where words break. */
const LOOKS: readonly Look[] = [
  { theme: "light", language: "en" },
  { theme: "dark", language: "zh" },
];

/** Somebody at the console of a real server, in a real browser. Whatever the page complains of fails the test. */
export class Visit {
  readonly page: Page;
  readonly complaints: string[] = [];
  readonly #url: string;

  constructor(page: Page, url: string) {
    this.page = page;
    page.setDefaultTimeout(PATIENCE_MS);
    this.#url = url;
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
  }

  async open(path: string): Promise<void> {
    await this.page.goto(`${this.#url}/console${path}`);
  }

  /** As if it was chosen in another tab: the page follows without being loaded again. */
  async look({ theme, language }: Look): Promise<void> {
    await this.page.evaluate(CHOOSE, { "touchpoint.theme": theme, "touchpoint.language": language });
    await this.page.waitForFunction(`document.documentElement.dataset.theme === "${theme}"`);
    // Drawn, charts too: nothing moves for somebody who does not want it to.
    await this.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }

  /**
   * The page as it is, in both themes and languages, at `test-output/NAME-THEME-LANGUAGE.png`, without serious findings of
   * axe. `show` makes it what is to be photographed.
   */
  async inspect(name: string, show: (page: Page) => Promise<unknown> = async () => {}): Promise<void> {
    mkdirSync(PICTURES, { recursive: true });
    await show(this.page);
    for (const look of LOOKS) {
      await this.look(look);
      const path = join(PICTURES, `${name}-${look.theme}-${look.language}.png`);
      await this.page.screenshot({ path, fullPage: true });
      expect(await this.findings(), `${name}, ${look.theme}`).toEqual([]);
    }
    await this.look(LOOKS[0]!);
    expect(this.complaints).toEqual([]);
  }

  /** What axe finds serious or worse. */
  async findings(): Promise<string[]> {
    await this.page.evaluate(AXE);
    return this.page.evaluate(async () => {
      type Found = { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] };
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Found[] }> } };
      const { violations } = await axe.run({ resultTypes: ["violations"] });
      return violations
        .filter(({ impact }) => impact === "serious" || impact === "critical")
        .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} (${node.failureSummary})`));
    });
  }
}

/** Runs in the page. */
const CHOOSE = (choices: Record<string, string>) => {
  type Tab = {
    localStorage: Record<string, string>;
    StorageEvent: new (name: string, init: { key: string; newValue: string }) => unknown;
    dispatchEvent(event: unknown): void;
  };
  const tab = globalThis as unknown as Tab;
  for (const [key, newValue] of Object.entries(choices)) {
    tab.localStorage[key] = newValue;
    tab.dispatchEvent(new tab.StorageEvent("storage", { key, newValue }));
  }
};

type ConsoleOptions = { server?: TouchpointProcess; env?: Record<string, string> };

/** A server with its first admin, and a browser. */
export class ConsoleTest {
  readonly server: TouchpointProcess;
  readonly browser: Browser;
  readonly #admin: string;
  #analysts = 0;

  private constructor(server: TouchpointProcess, browser: Browser, admin: string) {
    this.server = server;
    this.browser = browser;
    this.#admin = admin;
  }

  /** A given server must be on its first start, as it is here. */
  static async start(options: ConsoleOptions = {}): Promise<ConsoleTest> {
    const [server, browser] = await Promise.all([
      options.server ?? TouchpointProcess.start(options.env ? { env: options.env } : {}),
      openBrowser(),
    ]);
    const made = await adminApi(server, "session/setup", {
      token: setupToken(server),
      name: "admin",
      password: PASSWORD,
    });
    expect(made.code).toBe(0);
    return new ConsoleTest(server, browser, made.headers.getSetCookie()[0]!.split(";")[0]!);
  }

  /** A visit of somebody who is signed in as the admin, or of nobody. */
  async visit(options: { as?: "admin" | "nobody" | { cookie: string }; size?: Size } = {}): Promise<Visit> {
    const { as = "admin", size = "laptop" } = options;
    const context = await this.browser.newContext({ viewport: SIZES[size], locale: "en-GB", reducedMotion: "reduce" });
    // A page that is left open goes on asking, and drawing.
    onTestFinished(() => context.close());
    const cookie = as === "admin" ? this.#admin : as === "nobody" ? undefined : as.cookie;
    if (cookie !== undefined) {
      const [name, value] = cookie.split("=");
      await context.addCookies([
        { name: name!, value: value!, url: this.server.url, httpOnly: true, sameSite: "Strict" },
      ]);
    }
    return new Visit(await context.newPage(), this.server.url);
  }

  /** Somebody who may look at everything and change nothing. */
  async analyst(): Promise<{ cookie: string }> {
    this.#analysts += 1;
    const name = `analyst-${this.#analysts}`;
    const added = await this.api("console-users/create", { name, role: "analyst" });
    const { setup_token: token } = added.data as { setup_token: string };
    const made = await adminApi(this.server, "session/setup", { token, password: PASSWORD });
    return { cookie: made.headers.getSetCookie()[0]!.split(";")[0]! };
  }

  /** The admin interface without the browser, as the admin. */
  async api(path: string, body?: object): Promise<Answer> {
    const session = await adminApi(this.server, "session", undefined, { cookie: this.#admin });
    return adminApi(this.server, path, body, { cookie: this.#admin, "touchpoint-csrf": session.data.csrf });
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
  }
}

/** Of the link that the first start prints. */
export function setupToken(server: TouchpointProcess): string {
  const token = /\/console\/setup#([\w-]+)/.exec(server.output)?.[1];
  if (!token) throw new Error(`The server has printed no link:\n${server.output}`);
  return token;
}

async function adminApi(
  server: TouchpointProcess,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  return answerOf(await fetch(`${server.url}/admin/api/v1/${path}`, init));
}

export async function openBrowser(): Promise<Browser> {
  const executablePath = PLACES.find((path) => existsSync(path));
  if (!executablePath) throw new Error("There is no Chromium: install the package `chromium`.");
  return chromium.launch({ executablePath, headless: true, args: FLAGS, timeout: PATIENCE_MS });
}
