import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { type Answer, answerOf, TouchpointProcess } from "../support/touchpoint.ts";
import { SIZES, type Size, takeTab } from "./tabs.ts";

const PICTURES = fileURLToPath(new URL("../../test-output/", import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export const PASSWORD = "correct horse battery";
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
    this.#url = url;
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
  }

  async open(path: string): Promise<void> {
    await this.page.goto(`${this.#url}/console${path}`);
  }

  /** The same address, on a screen of another size. */
  async reopen(size: Size): Promise<void> {
    await this.page.setViewportSize(SIZES[size]);
    await this.page.reload();
  }

  /** As if it was chosen in another tab: the page follows without being loaded again. */
  async look({ theme, language }: Look): Promise<void> {
    await this.page.evaluate(CHOOSE, { "touchpoint.theme": theme, "touchpoint.language": language });
    await this.page.waitForFunction(`document.documentElement.dataset.theme === "${theme}"`);
    // Drawn, charts too: nothing moves for somebody who does not want it to.
    await this.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }

  /**
   * The page as it is, in both themes and languages, without serious findings of axe; see `photograph`. `show` makes it what
   * is to be looked at.
   */
  async inspect(name: string, show: (page: Page) => Promise<unknown> = async () => {}): Promise<void> {
    await show(this.page);
    for (const look of LOOKS) {
      await this.look(look);
      await this.photograph(`${name}-${look.theme}-${look.language}`);
      expect(await this.findings(), `${name}, ${look.theme}`).toEqual([]);
    }
    await this.look(LOOKS[0]!);
    expect(this.complaints).toEqual([]);
  }

  /** `test-output/NAME.png`, for people: no test reads it. Only with `PICTURES=1`, because a picture takes half a second. */
  async photograph(name: string): Promise<void> {
    if (process.env.PICTURES !== "1") return;
    mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }

  /**
   * What axe finds serious or worse: in an open dialog alone, because what is behind it has a test of its own. Colours take
   * three quarters of the time; where `inspect` has seen them, shape is enough.
   */
  async findings(rules: "all" | "shape" = "all"): Promise<string[]> {
    if (await this.page.evaluate("!globalThis.axe")) await this.page.evaluate(AXE);
    const off = Object.fromEntries(rules === "all" ? [] : COLOUR_RULES.map((rule) => [rule, { enabled: false }]));
    return this.page.evaluate(FIND, { resultTypes: ["violations"], rules: off });
  }
}

const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Runs in the page. */
const FIND = async (options: object): Promise<string[]> => {
  type Found = { id: string; impact: string; nodes: { target: string[]; failureSummary: string }[] };
  type Tab = {
    document: { querySelector(selector: string): unknown };
    axe: { run(context: unknown, options: object): Promise<{ violations: Found[] }> };
  };
  const { axe, document } = globalThis as unknown as Tab;
  const { violations } = await axe.run(document.querySelector("dialog[open]") ?? document, options);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")} (${node.failureSummary})`));
};

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

type VisitOptions = { as?: "admin" | "nobody" | { cookie: string }; size?: Size; inNewTab?: boolean };

/** A server with its first admin, to be visited by a browser. */
export class ConsoleTest {
  readonly server: TouchpointProcess;
  readonly #admin: string;
  #csrf: string | undefined;
  #analysts = 0;

  private constructor(server: TouchpointProcess, admin: string) {
    this.server = server;
    this.#admin = admin;
  }

  /** A given server must be on its first start, as it is here. */
  static async start(options: ConsoleOptions = {}): Promise<ConsoleTest> {
    const server = options.server ?? (await TouchpointProcess.start(options.env ? { env: options.env } : {}));
    const made = await adminApi(server, "session/setup", {
      token: setupToken(server),
      name: "admin",
      password: PASSWORD,
    });
    expect(made.code).toBe(0);
    return new ConsoleTest(server, made.headers.getSetCookie()[0]!.split(";")[0]!);
  }

  /** A visit of somebody who is signed in as the admin, or of nobody. */
  async visit({ as = "admin", size = "laptop", inNewTab = false }: VisitOptions = {}): Promise<Visit> {
    const page = await takeTab(size, { isNew: inNewTab });
    const cookie = as === "admin" ? this.#admin : as === "nobody" ? undefined : as.cookie;
    if (cookie !== undefined) {
      const [name, value] = cookie.split("=");
      await page
        .context()
        .addCookies([{ name: name!, value: value!, url: this.server.url, httpOnly: true, sameSite: "Strict" }]);
    }
    return new Visit(page, this.server.url);
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
    this.#csrf ??= (await adminApi(this.server, "session", undefined, { cookie: this.#admin })).data.csrf as string;
    return adminApi(this.server, path, body, { cookie: this.#admin, "touchpoint-csrf": this.#csrf });
  }

  async stop(): Promise<void> {
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
