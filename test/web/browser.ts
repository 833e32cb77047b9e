import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, afterEach, expect } from "vitest";
import { keepServer } from "../support/kept-server.ts";
import { type Answer, answerOf, TouchpointProcess } from "../support/touchpoint.ts";
import { colourFindings, shapeFindings } from "./axe.ts";
import { borrowTab, giveBack, SIZES, type Size, takeTab } from "./tabs.ts";

const PICTURES = fileURLToPath(new URL("../../test-output/", import.meta.url));

export const PASSWORD = "correct horse battery";
type Look = { theme: "light" | "dark"; language: "en" | "zh" };

/** Each theme and each language once: texts do not affect colours, nor colours where texts wrap. */
const LOOKS: readonly Look[] = [
  { theme: "light", language: "en" },
  { theme: "dark", language: "zh" },
];

/** A person at the console of a real server, in a real browser. Any complaint of the page fails the test. */
export class Visit {
  readonly page: Page;
  readonly complaints: string[] = [];
  readonly #url: string;
  #look: Look = LOOKS[0]!;

  constructor(page: Page, url: string) {
    this.page = page;
    this.#url = url;
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error") this.complaints.push(message.text());
    });
  }

  /** Says what the page shows: a test that waits in vain tells only what it waited for. */
  async tell(test: string): Promise<void> {
    const shown = await this.page.locator("body").innerText();
    const open = await this.page.getByRole("dialog").allInnerTexts();
    console.error(`"${test}" ended at ${this.page.url()}`, { open, complaints: this.complaints, shown });
  }

  /** Loads the console, as for a person who comes from another site. */
  async open(path: string): Promise<void> {
    await this.page.goto(`${this.#url}/console${path}`);
  }

  /**
   * Goes to another page of the loaded console, as a link does: in half the time, and with recent answers still cached. It
   * passes through a page that does not exist, so that nothing of the current one stays.
   */
  async go(path: string): Promise<void> {
    await this.page.evaluate(LEAVE, `/console${path}`);
  }

  /**
   * Checks that nothing overflows the page on a screen as narrow as a phone's. The layout is CSS alone, so it follows at
   * once.
   */
  async fitsPhone(name: string): Promise<void> {
    const before = this.page.viewportSize()!;
    await this.page.setViewportSize(SIZES.phone);
    try {
      const wide = "document.documentElement.scrollWidth - innerWidth";
      await expect.poll(() => this.page.evaluate(wide), { message: name }).toBeLessThanOrEqual(0);
      await this.photograph(`${name}-phone`);
    } finally {
      await this.page.setViewportSize(before);
    }
  }

  /** As if it were chosen in another tab: the page follows without reloading. */
  async look(look: Look): Promise<void> {
    if (look !== this.#look) {
      const { theme, language } = look;
      await this.page.evaluate(CHOOSE, { "touchpoint.theme": theme, "touchpoint.language": language });
      await this.page.waitForFunction(`document.documentElement.dataset.theme === "${theme}"`);
      this.#look = look;
    }
    // Waits until everything is drawn, charts included: animations are off.
    await this.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  }

  async lookAsBefore(): Promise<void> {
    if (this.#look !== LOOKS[0]) await this.look(LOOKS[0]!);
  }

  /**
   * Inspects the page in both themes and languages for serious findings of axe, and photographs it. `show` brings up what is
   * to be inspected.
   */
  async inspect(name: string, show: (page: Page) => Promise<unknown> = async () => {}): Promise<void> {
    await show(this.page);
    for (const look of LOOKS) {
      await this.look(look);
      await this.photograph(`${name}-${look.theme}-${look.language}`);
      expect(await colourFindings(this.page), `${name}, ${look.theme}`).toEqual([]);
    }
    expect(await shapeFindings(this.page), name).toEqual([]);
    await this.lookAsBefore();
    expect(this.complaints).toEqual([]);
  }

  /**
   * Writes `test-output/NAME.png` for people; no test reads it. Only with `PICTURES=1`, because a picture takes half a
   * second.
   */
  async photograph(name: string): Promise<void> {
    if (process.env.PICTURES !== "1") return;
    mkdirSync(PICTURES, { recursive: true });
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }

  /** Serious findings of axe. Once `inspect` has checked the colours, the structure is enough. */
  async findings(rules: "all" | "shape" = "all"): Promise<string[]> {
    const shapes = await shapeFindings(this.page);
    return rules === "shape" ? shapes : [...shapes, ...(await colourFindings(this.page))];
  }
}

/** Runs in the page. */
const LEAVE = async (address: string): Promise<void> => {
  type Tab = {
    history: { pushState(state: unknown, title: string, address: string): void };
    requestAnimationFrame(callback: () => void): void;
    document: { title: string };
  };
  const { history, document, requestAnimationFrame } = globalThis as unknown as Tab;
  history.pushState(null, "", "/console/nowhere");
  // Every page has its own title.
  while (document.title !== "Touchpoint") await new Promise<void>((done) => requestAnimationFrame(done));
  history.pushState(null, "", address);
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

type VisitOptions = { as?: "admin" | "nobody" | { cookie: string }; size?: Size };

/** The admin at the console for a whole file: the first test loads it, the others go from page to page. */
export class LastingVisit {
  readonly #site: () => ConsoleTest;
  #visit: Visit | undefined;

  constructor(site: () => ConsoleTest) {
    this.#site = site;
    afterEach(({ task }) => (task.result?.state === "fail" ? this.#visit?.tell(task.name) : undefined));
    afterAll(() => this.#visit && giveBack(this.#visit.page));
  }

  /** Not for tests that listen to the tab or check what has just changed behind its back. */
  async open(path: string): Promise<Visit> {
    if (this.#visit) {
      await this.#visit.lookAsBefore();
      await this.#visit.go(path);
    } else {
      const page = await borrowTab();
      await page.setViewportSize(SIZES.laptop);
      this.#visit = await this.#site().visitIn(page);
      await this.#visit.open(path);
    }
    return this.#visit;
  }
}

let shared: Promise<ConsoleTest> | undefined;
let withLake: Promise<ConsoleTest> | undefined;

/** A server with its first admin, to be visited by a browser. */
export class ConsoleTest {
  readonly server: TouchpointProcess;
  readonly #admin: string;
  #csrf: string | undefined;
  #analyst: Promise<{ cookie: string }> | undefined;
  #analysts = 0;

  private constructor(server: TouchpointProcess, admin: string) {
    this.server = server;
    this.#admin = admin;
  }

  /**
   * The server shared by all files of this worker, each with its own apps. Costs are pulled only when a test asks for it,
   * and links may be called with 30 KB at once.
   */
  static shared(): Promise<ConsoleTest> {
    shared ??= ConsoleTest.#start("http,apply,refresh,postback");
    return shared;
  }

  /** Another one, which has a lake. */
  static withLake(): Promise<ConsoleTest> {
    withLake ??= ConsoleTest.#start("http,apply,refresh,postback,lake");
    return withLake;
  }

  static async #start(roles: string): Promise<ConsoleTest> {
    const env = { ROLES: roles, ADDRESS_BYTES_PER_S: "1000" };
    const server = await TouchpointProcess.start({ env });
    keepServer(server);
    const made = await adminApi(server, "session/setup", {
      token: setupToken(server),
      name: "admin",
      password: PASSWORD,
    });
    expect(made.code).toBe(0);
    return new ConsoleTest(server, made.headers.getSetCookie()[0]!.split(";")[0]!);
  }

  /** A visit by the signed-in admin, or by nobody. */
  async visit({ as = "admin", size = "laptop" }: VisitOptions = {}): Promise<Visit> {
    return this.visitIn(await takeTab(size), as);
  }

  async visitIn(page: Page, as: VisitOptions["as"] = "admin"): Promise<Visit> {
    const cookie = as === "admin" ? this.#admin : as === "nobody" ? undefined : as.cookie;
    if (cookie !== undefined) {
      const [name, value] = cookie.split("=");
      await page
        .context()
        .addCookies([{ name: name!, value: value!, url: this.server.url, httpOnly: true, sameSite: "Strict" }]);
    }
    return new Visit(page, this.server.url);
  }

  /** A person who may see everything and change nothing. */
  analyst(): Promise<{ cookie: string }> {
    this.#analyst ??= this.newAnalyst();
    return this.#analyst;
  }

  /** An analyst whose session or password the test changes. */
  async newAnalyst(): Promise<{ cookie: string }> {
    this.#analysts += 1;
    const name = `analyst-${this.#analysts}`;
    const added = await this.api("console-users/create", { name, grants: [{ app_id: null, role: "analyst" }] });
    const { setup_token: token } = added.data as { setup_token: string };
    const made = await adminApi(this.server, "session/setup", { token, password: PASSWORD });
    return { cookie: made.headers.getSetCookie()[0]!.split(";")[0]! };
  }

  /** Calls the admin interface without the browser, as the admin. */
  async api(path: string, body?: object): Promise<Answer> {
    this.#csrf ??= (await adminApi(this.server, "session", undefined, { cookie: this.#admin })).data.csrf as string;
    return adminApi(this.server, path, body, { cookie: this.#admin, "touchpoint-csrf": this.#csrf });
  }
}

/** The token in the link that the first start prints. */
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
