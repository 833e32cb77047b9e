import type { Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import type { App } from "../../src/db/app.ts";
import { DAY_MS, HOUR_MS, profile, type Row, track } from "../http/fixture.ts";
import { collect, payment, register } from "../http/report/list-people.ts";
import { ConsoleTest, type Visit } from "./browser.ts";

const PEOPLE = 60;
const CAMPAIGNS = ["Spring sale", "Summer league", "New heroes"].map((name, index) => ({
  name,
  turbo_promoted_object_id: `campaign-000000${index}`,
}));
const COMPANIES = ["tencent", "kuaishou", "bytedance", ""];
const PRICES = [600, 1_200, 3_000, 6_800, 12_800, 32_800];

/** A console with an app of sixty people of four sources, who paid about fifty times and were told of, or not. */
export class ResultsStage {
  #site: ConsoleTest | undefined;
  #app: App | undefined;

  constructor() {
    beforeAll(async () => {
      this.#site = await ConsoleTest.start();
      this.#app = await this.site.server.createApp({ name: "Space game" });
      for (const campaign of CAMPAIGNS) await this.site.api("campaigns/create", { app_id: this.appId, ...campaign });
      // Nobody came from there: what is to be told of the others is skipped, and nothing leaves the machine.
      await this.site.api("accounts/set", { app_id: this.appId, ad_platform: "vivo", postbacks: "on" });
      const nowMs = Date.now();
      await Promise.all(Array.from({ length: PEOPLE }, (_, number) => this.#play(number, nowMs)));
      await this.site.server.settle();
    });
    afterAll(() => this.#site?.stop());
  }

  get site(): ConsoleTest {
    return this.#site!;
  }

  get appId(): number {
    return this.#app!.appId;
  }

  async #play(number: number, nowMs: number): Promise<void> {
    const [app, client] = [this.#app!, `player-${String(number).padStart(3, "0")}`];
    const company = COMPANIES[number % COMPANIES.length]!;
    const registeredAtMs = nowMs - (number % 10) * DAY_MS - number * 60_000;
    await register(this.site.server, app, client, {
      name: `Player ${number}`,
      channel: company === "" ? "official" : `${company}_store`,
      version: 101 + (number % 3),
      active_time: registeredAtMs,
      click_time: registeredAtMs - HOUR_MS,
      click_company: company,
      turbo_promoted_object_id: company === "" ? "" : CAMPAIGNS[number % 3]!.turbo_promoted_object_id,
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
    await collect(this.site.server, app, client, ...orders, ads, profile("profile_set", { level: number }));
  }

  /** A page of the console that is about the app, as somebody. */
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
