import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { addDays, calendarOf } from "../../src/domain/calendar.ts";
import { untilTodayLasts } from "../support/midnight.ts";
import { ConsoleTest, type Visit } from "./browser.ts";
import { type ServedMarket, serveMarket } from "./market.ts";

/** A console whose app had a market of fifteen days, and what its reports say without a browser. */
export class ReportStage {
  #market: ServedMarket | undefined;
  #site: ConsoleTest | undefined;
  /** Of the market. */
  days = { from: "", to: "" };

  constructor() {
    beforeAll(async () => {
      await untilTodayLasts();
      this.#market = await serveMarket();
      this.#site = await ConsoleTest.start({ server: this.market.server });
      const to = this.dayOf(Date.now());
      this.days = { from: addDays(to, -14), to };
    });
    afterAll(async () => {
      await this.#site?.stop();
      await this.#market?.stop();
    });
  }

  get site(): ConsoleTest {
    return this.#site!;
  }

  get market(): ServedMarket {
    return this.#market!;
  }

  dayOf(ms: number): string {
    return calendarOf("Asia/Shanghai").dayOf(ms);
  }

  async report(more: Record<string, unknown>): Promise<any> {
    const { from, to } = this.days;
    const base = { app_id: this.market.appId, date_list: [from, to], dims_list: [], decimal_point: 2 };
    const asked = { ...base, statistics_caliber: "user_activated_time", rate_decimal_point: 4, ...more };
    const answer = await this.site.api("report/ad", asked);
    expect(answer.msg).toBe("success");
    return answer.data;
  }

  query(more: Record<string, string> = {}): string {
    return new URLSearchParams({ ...this.days, ...more }).toString();
  }
}

/** As the console writes numbers in English. */
export const money = new Intl.NumberFormat("en-GB", {
  style: "currency",
  currency: "CNY",
  currencyDisplay: "narrowSymbol",
});
export const count = new Intl.NumberFormat("en-GB");
export const percent = new Intl.NumberFormat("en-GB", { style: "percent", minimumFractionDigits: 2 });

/** Until so many charts are there. */
export async function isDrawn(page: Page, charts: number): Promise<void> {
  await expect.poll(() => page.locator(".chart canvas").count()).toBe(charts);
}

/** Until the page shows what it was last asked for. */
export async function isSettled(page: Page): Promise<void> {
  await page.locator('[aria-busy="false"]').first().waitFor();
}

/** Nothing sticks out of the page. */
export async function noSideways({ page }: Visit): Promise<void> {
  const wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
  await expect.poll(() => page.evaluate(wide)).toBe(0);
}
