import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { addDays } from "../../src/domain/calendar.ts";
import { DAYS, dayOf, ResultsStage } from "./results-stage.ts";

/** The answers of the app's reports without a browser. */
export class ReportStage extends ResultsStage {
  /** All days with people. */
  days = { from: "", to: "" };

  constructor() {
    super();
    beforeAll(() => {
      const to = dayOf(Date.now());
      this.days = { from: addDays(to, 1 - DAYS), to };
    });
  }

  async report(more: Record<string, unknown>): Promise<any> {
    const { from, to } = this.days;
    const base = { app_id: this.appId, date_list: [from, to], dims_list: [], decimal_point: 2 };
    const asked = { ...base, statistics_caliber: "user_activated_time", rate_decimal_point: 4, ...more };
    const answer = await this.site.api("report/ad", asked);
    expect(answer.msg).toBe("success");
    return answer.data;
  }

  query(more: Record<string, string> = {}): string {
    return new URLSearchParams({ app: String(this.appId), ...this.days, ...more }).toString();
  }
}

/** Numbers as the console writes them in English. */
export const money = new Intl.NumberFormat("en-GB", {
  style: "currency",
  currency: "CNY",
  currencyDisplay: "narrowSymbol",
});
export const count = new Intl.NumberFormat("en-GB");
export const percent = new Intl.NumberFormat("en-GB", { style: "percent", minimumFractionDigits: 2 });

/** Waits until this many charts are drawn. */
export async function isDrawn(page: Page, charts: number): Promise<void> {
  await expect.poll(() => page.locator(".chart canvas").count()).toBe(charts);
}

/** Waits until the page shows what it was last asked for. */
export async function isSettled(page: Page): Promise<void> {
  await page.locator('[aria-busy="false"]').first().waitFor();
}
