import { calendarOf, DAY_MS } from "../../src/domain/calendar.ts";
import type { CostRow } from "../../test/report/oracle-market.ts";
import { type Ad, makeCatalogue } from "./ads.ts";
import type { MarketCall } from "./call.ts";
import { type Flood, planFlood } from "./fraud.ts";
import { type MarketOptions, startOf, tickAfter } from "./options.ts";
import { type Plan, planPerson } from "./person.ts";
import { Random } from "./random.ts";
import { HOUR_MS, type Scene } from "./someone.ts";

/** How much earlier than an arrival the calls that lead to it can begin. */
const LEAD_MS = 2 * DAY_MS;

type Actor = { arrivesMs: number; plan: () => Plan | Flood };

/** The calls of one actor in a tick, in order. `plan` is the person's; undefined for a flood. */
export type Turn = { plan: Plan | undefined; calls: MarketCall[] };

/** The distribution over the hours of the local day: evenings are the busiest. */
const HOURS = [3, 2, 1, 1, 1, 1, 2, 3, 4, 4, 5, 6, 7, 6, 5, 5, 5, 6, 7, 8, 9, 9, 7, 5];

/** A market of people, ads and fraud: the same options give the same calls, byte for byte. */
export class Market implements Scene {
  readonly options: MarketOptions;
  readonly catalogue: Scene["catalogue"];
  readonly floods: Flood[] = [];
  readonly #clicks = new Map<string, number>();

  /** Given a catalogue, new people see the ads of an existing market. */
  constructor(options: MarketOptions, catalogue = makeCatalogue(options.seed)) {
    this.options = options;
    this.catalogue = catalogue;
  }

  /** All calls, tick by tick. Sent calls are forgotten. */
  *ticks(): Generator<{ atMs: number; turns: Turn[] }> {
    const { endMs } = this.options;
    const actors = this.#actors();
    let waiting: { plan: Plan | undefined; calls: MarketCall[]; sent: number }[] = [];
    let next = 0;
    for (
      let atMs = tickAfter(this.options, startOf(this.options));
      atMs <= endMs;
      atMs = tickAfter(this.options, atMs + 1)
    ) {
      for (; next < actors.length && actors[next]!.arrivesMs <= atMs + LEAD_MS; next += 1) {
        const planned = actors[next]!.plan();
        waiting.push({ plan: "truth" in planned ? planned : undefined, calls: planned.calls, sent: 0 });
      }
      const turns = waiting.flatMap((one): Turn[] => {
        const from = one.sent;
        while (one.sent < one.calls.length && one.calls[one.sent]!.dueMs <= atMs) one.sent += 1;
        return one.sent === from ? [] : [{ plan: one.plan, calls: one.calls.slice(from, one.sent) }];
      });
      waiting = waiting.filter((one) => one.sent < one.calls.length);
      for (const turn of turns) for (const call of turn.calls) this.#countClick(call);
      yield { atMs, turns };
    }
  }

  /** One more person, for a market that runs on the real clock. */
  newcomer(index: number, arrivesMs: number): Plan {
    return planPerson(this, index, arrivesMs);
  }

  #actors(): Actor[] {
    const { seed, people, days, rates } = this.options;
    const random = new Random(seed, "arrivals");
    const persons = Array.from({ length: people }, (_, index): Actor => {
      const arrivesMs = this.#instant(random);
      return { arrivesMs, plan: () => planPerson(this, index, arrivesMs) };
    });
    const floods = Array.from({ length: Math.round(rates.floodsPerDay * days) }, (_, number): Actor => {
      const arrivesMs = this.#instant(random);
      return { arrivesMs, plan: () => this.#flood(number, arrivesMs) };
    });
    return [...persons, ...floods].sort((left, right) => left.arrivesMs - right.arrivesMs);
  }

  #instant(random: Random): number {
    const { days, timeZone, endMs } = this.options;
    const startMs = startOf(this.options);
    const calendar = calendarOf(timeZone);
    const hour = random.weighted([...HOURS.keys()], (one) => HOURS[one]!);
    const dayMs = calendar.startOf(calendar.dayOf(startMs + random.next() * days * DAY_MS));
    return Math.min(Math.max(dayMs + (hour + random.next()) * HOUR_MS, startMs), endMs - 1);
  }

  #flood(number: number, atMs: number): Flood {
    const flood = planFlood(this, number, atMs);
    this.floods.push(flood);
    return flood;
  }

  /** Every click costs, forged or not. */
  #countClick(call: MarketCall): void {
    if (call.kind !== "link" || call.touch !== "click") return;
    const aid = Object.values(call.macros);
    const ad = this.catalogue.ads.find((one) => one.platform === call.platform && aid.includes(one.aid));
    if (!ad) return;
    const key = `${calendarOf(this.options.timeZone).dayOf(call.dueMs)} ${ad.aid}`;
    this.#clicks.set(key, (this.#clicks.get(key) ?? 0) + 1);
  }

  /** The cost of each ad on each day, once the market is over. Every ad is shown a little every day. */
  costs(): CostRow[] {
    const calendar = calendarOf(this.options.timeZone);
    const { endMs, days, seed } = this.options;
    const rows: CostRow[] = [];
    for (let back = days - 1; back >= 0; back -= 1) {
      const day = calendar.dayOf(endMs - back * DAY_MS);
      for (const ad of this.catalogue.ads) {
        const random = new Random(seed, "cost", day, ad.aid);
        // Apple calls no links, so its clicks were not counted and are drawn here.
        const told = this.#clicks.get(`${day} ${ad.aid}`) ?? (ad.platform === "asa" ? random.whole(0, 4) : 0);
        const clicks = told + random.whole(0, 2);
        rows.push(costRow(ad, { day, clicks, impressions: clicks * random.whole(20, 60) + random.whole(10, 200) }));
      }
    }
    return rows;
  }
}

function costRow(ad: Ad, { day, clicks, impressions }: { day: string; clicks: number; impressions: number }): CostRow {
  return {
    day,
    ad_platform: ad.platform,
    advertiser_id: ad.advertiserId,
    gid: ad.gid,
    aid: ad.aid,
    creative: "",
    csite: "",
    channel: ad.channel,
    os_platform: "",
    turbo_promoted_object_id: ad.campaignId,
    impressions,
    clicks,
    costE4: clicks * ad.costPerClickCents * 100,
  };
}
