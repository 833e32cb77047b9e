import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { Row } from "../http/fixture.ts";
import { ConsoleTest, type Visit } from "./browser.ts";
import { MARKET_TIMEOUT_MS, type ServedMarket, serveMarket } from "./market.ts";

/** A small market and a console that shows it. */
export class ResultsStage {
  #market: ServedMarket | undefined;
  #site: ConsoleTest | undefined;

  constructor() {
    beforeAll(async () => {
      this.#market = await serveMarket();
      this.#site = await ConsoleTest.start({ server: this.#market.server });
    }, MARKET_TIMEOUT_MS);
    afterAll(async () => {
      await this.#site?.browser.close();
      await this.#market?.stop();
    });
  }

  get site(): ConsoleTest {
    return this.#site!;
  }

  get server(): ServedMarket["server"] {
    return this.#market!.server;
  }

  get appId(): number {
    return this.#market!.appId;
  }

  /** A page of the console that is about the market, as somebody. */
  async open(path: string, options: Parameters<ConsoleTest["visit"]>[0] = {}): Promise<Visit> {
    const visit = await this.site.visit(options);
    await visit.open(`${path}${path.includes("?") ? "&" : "?"}app=${this.appId}`);
    return visit;
  }

  /** What the server itself says of a list. */
  async asked(list: "orders" | "users", more: object = {}): Promise<{ page_info: Row; list: Row[] }> {
    const body = { app_id: this.appId, user_filtering: {}, event_filtering: {}, page_size: 500, ...more };
    const { code, msg, data } = await this.site.api(`report/${list}`, body);
    if (code !== 0) throw new Error(msg);
    return data;
  }
}

export const rowsOf = (page: Page) => page.locator("table tbody tr");
