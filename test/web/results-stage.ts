import type { Page } from "playwright-core";
import { beforeAll, expect } from "vitest";
import { settle } from "../../src/cli/operation/settle-command.ts";
import type { App } from "../../src/db/app.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { DAY_MS, HOUR_MS, profile, type Row, track } from "../http/fixture.ts";
import { collect, payment, register } from "../http/report/list-people.ts";
import { untilTodayLasts } from "../support/midnight.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";

const PEOPLE = 60;
const CAMPAIGNS = ["Spring sale", "Summer league", "New heroes"].map((name, index) => ({
  name,
  turbo_promoted_object_id: `campaign-000000${index}`,
}));
const COMPANIES = ["tencent", "kuaishou", "bytedance", ""];
const PRICES = [600, 1_200, 3_000, 6_800, 12_800, 32_800];

/** The number of days after the registration on which a person comes back. */
const RETURNS = [1, 3, 7];
/** The number of days, today included, on which people of each company register. */
export const DAYS = 15;

/** An app with sixty people of four sources, who paid about sixty times, with and without postbacks, and with costs. */
export class ResultsStage {
  readonly visit: LastingVisit;
  /** The registration times. */
  readonly registeredAtMs: number[] = [];
  #site: ConsoleTest | undefined;
  #app: App | undefined;

  constructor() {
    beforeAll(async () => {
      await untilTodayLasts();
      this.#site = await ConsoleTest.shared();
      this.#app = await this.site.server.createApp({ name: "Space game" });
      for (const campaign of CAMPAIGNS) await this.site.api("campaigns/create", { app_id: this.appId, ...campaign });
      // Nobody came from there: the others' postbacks are skipped, and nothing leaves the machine.
      await this.site.api("accounts/set", { app_id: this.appId, ad_platform: "vivo", postbacks: "on" });
      const nowMs = Date.now();
      await this.#spend(nowMs);
      await Promise.all(Array.from({ length: PEOPLE }, (_, number) => this.#play(number, nowMs)));
      await settle(this.site.server.url, PATIENCE_MS);
    });
    this.visit = new LastingVisit(() => this.site);
  }

  get site(): ConsoleTest {
    return this.#site!;
  }

  get appId(): number {
    return this.#app!.appId;
  }

  async #spend(nowMs: number): Promise<void> {
    const lines = Array.from({ length: DAYS }, (_, back) => back).flatMap((back) =>
      COMPANIES.filter((company) => company !== "").map((company, at) => {
        const [day, cost] = [dayOf(nowMs - back * DAY_MS), 100 + 7 * back + at];
        return `${day},${company},1,ad-${back % 5},${cost * 20},${cost},${cost}.25`;
      }),
    );
    const csv = ["date,ad_platform,advertiser_id,aid,impressions,clicks,cost", ...lines].join("\n");
    expect(await this.site.api("cost/import", { app_id: this.appId, csv })).toMatchObject({ code: 0 });
  }

  async #play(number: number, nowMs: number): Promise<void> {
    const [app, client] = [this.#app!, `player-${String(number).padStart(3, "0")}`];
    const company = COMPANIES[number % COMPANIES.length]!;
    const registeredAtMs = nowMs - (number % DAYS) * DAY_MS - number * 60_000;
    this.registeredAtMs.push(registeredAtMs);
    await register(this.site.server, app, client, {
      name: `Player ${number}`,
      channel: company === "" ? "official" : `${company}_store`,
      version: 101 + (number % 3),
      active_time: registeredAtMs,
      click_time: registeredAtMs - HOUR_MS,
      click_company: company,
      turbo_promoted_object_id: company === "" ? "" : CAMPAIGNS[number % 3]!.turbo_promoted_object_id,
      os_type: number % 3 === 0 ? "ios" : "android",
      ad_data: company === "" ? {} : { [company]: { account_id: "1", advertiser_id: "1", aid: `ad-${number % 5}` } },
    });
    const paid = number % 5 === 0 ? 3 : number % 2;
    const orders = Array.from({ length: paid }, (_, nth) =>
      payment(
        `order-${number}-${nth}`,
        PRICES[(number + nth) % PRICES.length]!,
        { $pay_method: nth === 0 ? "card" : "wallet" },
        registeredAtMs + (nth + 1) * 60_000,
      ),
    );
    const ads = { ...track("$AdShow", { $ecpm: 20 + number, $ad_type: "reward" }, registeredAtMs), time_free: true };
    const returns = RETURNS.slice(0, number % 4)
      .map((days) => registeredAtMs + days * DAY_MS)
      .filter((atMs) => atMs < nowMs)
      .map((atMs) => ({ ...track("$MPShow", {}, atMs), time_free: true }));
    const level = profile("profile_set", { level: number });
    await collect(this.site.server, app, client, ...orders, ads, ...returns, level);
  }

  /** A page of the console for the app. */
  async open(path: string): Promise<Visit> {
    return this.visit.open(this.addressOf(path));
  }

  addressOf(path: string): string {
    return `${path}${path.includes("?") ? "&" : "?"}app=${this.appId}`;
  }

  /** The server's own answer for a list. */
  async asked(list: "orders" | "users", more: object = {}): Promise<{ page_info: Row; list: Row[] }> {
    const body = { app_id: this.appId, user_filtering: {}, event_filtering: {}, page_size: 500, ...more };
    const { code, msg, data } = await this.site.api(`report/${list}`, body);
    if (code !== 0) throw new Error(msg);
    return data;
  }
}

/** A time in the app's time zone. */
export const dayOf = (ms: number) => calendarOf("Asia/Shanghai").dayOf(ms);

export const rowsOf = (page: Page) => page.locator("table tbody tr");
