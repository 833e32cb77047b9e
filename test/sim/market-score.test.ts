import { expect, test } from "vitest";
import { COMPLETE_RATES, DEFAULT_RATES, type Rates } from "../../sim/market/options.ts";
import { type Played, simulate } from "../../sim/market/simulation.ts";
import { truthLine } from "../../sim/market/truth.ts";
import { type Score, scoreMarket, TARGETS } from "../../sim/score/score.ts";
import { scoreTables } from "../../sim/score/table.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp } from "../support/touchpoint.ts";

/** Starts a server, plays days on it and asks about everyone: seconds alone, much longer beside other tests. */

/** Always the same, so that the market does not depend on the hour of the test. */
const END_MS = Date.parse("2026-11-15T04:00:00Z");

type Size = { days: number; people: number };

async function scoreOf(
  rates: Rates,
  { days, people }: Size,
  andThen: (played: Played) => Promise<void> = async () => {},
): Promise<Score> {
  const dataDir = prepareDataDir();
  try {
    const played = await simulate({
      seed: 3,
      days,
      people,
      tickMs: 180 * 60_000,
      rates,
      endMs: END_MS,
      dataDir,
    });
    const score = await scoreMarket(played);
    const lines = played.truth.people.map((person) => truthLine(person, "Asia/Shanghai"));
    expect(lines).toHaveLength(score.market.people);
    expect(JSON.parse(lines[0]!)).toMatchObject({ registeredAtMs: expect.any(Number), activeDays: expect.any(Array) });
    await andThen(played);
    await played.stop();
    return score;
  } finally {
    await cleanUp(dataDir);
  }
}

const missedIn = (score: Score) => TARGETS.filter(({ of, holds }) => !holds(of(score))).map(({ what }) => what);

/** Changes the truth from what the server was sent, in every way that a target measures. */
function spoil({ truth, operator, counterparts, market }: Played): void {
  const people = [...truth.people].sort((left, right) => right.events.length - left.events.length);
  // Many, so that some of them paid or came back on a day that is counted, at whatever hour the market ends.
  const [busiest, others] = [people.slice(0, 20), people.slice(20)];
  for (const person of busiest) person.events.splice(1);
  for (const { happening } of people.flatMap(({ events }) => events)) {
    if (happening.kind === "refund") happening.orderId = "another";
  }
  others[0]!.events.push({ ...others[0]!.events[0]!, serial: "never sent" });
  for (const { source } of others.slice(0, 50)) if (source) source.aid = "another";
  for (const ad of market.catalogue.ads) ad.costPerClickCents += 1;
  truth.complain("An answer that must not come.");
  const { accepted } = counterparts.byPlatform.kuaishou!;
  const whole = [...accepted];
  accepted.splice(0, accepted.length, ...whole.filter(({ code }) => code !== "2"));
  for (const one of whole) accepted.push({ ...one, code: "1" }, { ...one, code: "unheard of" });
  for (const one of counterparts.byPlatform.tencent!.accepted) if (one.cents !== null) one.cents += 1;
  const exported = operator.exportEvents.bind(operator);
  operator.exportEvents = async (days) => {
    const lines = await exported(days);
    return [...lines, lines[0]!];
  };
}

test("in a small market with all kinds of errors, the server reaches every target; against another truth, none", async () => {
  const score = await scoreOf(
    { ...DEFAULT_RATES, quietSpam: 0, touchLost: 0, refunded: 0.5 },
    { days: 5, people: 150 },
    async (played) => {
      spoil(played);
      expect(missedIn(await scoreMarket(played))).toEqual(TARGETS.map(({ what }) => what));
    },
  );
  expect(missedIn(score)).toEqual([]);
  expect(score.market.people).toBeGreaterThan(100);
  expect(score.events.acknowledged).toBeGreaterThan(500);
  expect(score.postbacks.justified).toBeGreaterThan(100);
  expect(scoreTables(score)).toContain("| precision of the deterministic methods |");
});

test("if nothing is lost, hidden or forged, the reports match the truth without any error", async () => {
  const { reports, attribution } = await scoreOf(COMPLETE_RATES, { days: 3, people: 60 });
  expect(reports.truth).toEqual({ users: 0, refunds: 0, ads: 0, cost: 0, roi: 0, ltv: 0, retention: 0 });
  expect(attribution.deterministic).toMatchObject({ precision: 1, recall: 1 });
});
