import { beforeAll, expect } from "vitest";
import type { App } from "../../src/db/app.ts";
import { addDays } from "../../src/domain/calendar.ts";
import { DAY_MS, track } from "../http/fixture.ts";
import { collect, payment, register } from "../http/report/list-people.ts";
import { untilTodayLasts } from "../support/midnight.ts";
import { eventually } from "../support/patience.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";
import { dayOf } from "./results-stage.ts";

export const PLAYERS = 12;
const COMPANIES = ["tencent", "kuaishou", ""];

/**
 * An app on a server with a lake. Twelve players of three sources finish a level yesterday, and each of them one to three
 * today; every third player pays.
 */
export class LakeStage {
  readonly visit: LastingVisit;
  /** Yesterday and today. */
  days = { from: "", to: "" };
  #site: ConsoleTest | undefined;
  #app: App | undefined;

  constructor() {
    beforeAll(async () => {
      await untilTodayLasts();
      this.#site = await ConsoleTest.withLake();
      this.#app = await this.site.server.createApp({ name: "Space game" });
      const nowMs = Date.now();
      const to = dayOf(nowMs);
      this.days = { from: addDays(to, -1), to };
      await Promise.all(Array.from({ length: PLAYERS }, (_, number) => this.#play(number, nowMs)));
      await eventually(async () => expect(await this.total({ measure: "count" })).toBe(PLAYERS * 3));
      await eventually(async () => expect(await this.total({ source: "order", measure: "users" })).toBe(PLAYERS / 3));
    });
    this.visit = new LastingVisit(() => this.site);
  }

  get site(): ConsoleTest {
    return this.#site!;
  }

  get appId(): number {
    return this.#app!.appId;
  }

  async #play(number: number, nowMs: number): Promise<void> {
    const [app, client] = [this.#app!, `player-${String(number).padStart(2, "0")}`];
    const company = COMPANIES[number % COMPANIES.length]!;
    await register(this.site.server, app, client, {
      name: client,
      channel: company === "" ? "official" : `${company}_store`,
      version: 100,
      active_time: nowMs - DAY_MS,
      click_time: nowMs - DAY_MS - 60_000,
      click_company: company,
      os_type: "android",
    });
    const level = (score: number, atMs: number) => ({
      ...track("level", { score, mode: number % 2 === 0 ? "easy" : "hard" }, atMs),
      time_free: true,
    });
    const levels = Array.from({ length: 1 + (number % 3) }, (_, nth) => level(10 * nth + number, nowMs - nth));
    const orders = number % 3 === 0 ? [payment(`order-${number}`, 600, {}, nowMs)] : [];
    await collect(this.site.server, app, client, level(1, nowMs - DAY_MS), ...levels, ...orders);
  }

  /** The number of levels in both days as the server tells it, or another number. */
  async total(series: object): Promise<number | null> {
    const { data } = await this.ask([{ source: "event", event: "level", ...series }]);
    return data.answer?.lines[0].total ?? null;
  }

  ask(series: readonly Record<string, unknown>[], more: object = {}) {
    const named = series.map(({ event, ...one }) => (one.source === "order" ? one : { event, ...one }));
    const { from, to } = this.days;
    const question = { date_list: [from, to], by: "day", series: named, ...more };
    return this.site.api("analysis/events", { app_id: this.appId, question });
  }

  async open(path: string, query: Record<string, string> = {}): Promise<Visit> {
    return this.visit.open(this.addressOf(path, query));
  }

  addressOf(path: string, query: Record<string, string> = {}): string {
    return `${path}?${new URLSearchParams({ app: String(this.appId), ...this.days, ...query })}`;
  }
}
