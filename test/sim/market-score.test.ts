import { expect, test } from "vitest";
import { COMPLETE_RATES, DEFAULT_RATES, type Rates } from "../../sim/market/options.ts";
import { temporaryPlace } from "../../sim/market/place.ts";
import { simulate } from "../../sim/market/simulation.ts";
import { truthLine } from "../../sim/market/truth.ts";
import { type Score, scoreMarket, TARGETS } from "../../sim/score/score.ts";
import { scoreTables } from "../../sim/score/table.ts";

/** A server starts, lives for days and is asked about everybody: seconds by itself, much longer beside others. */
const TIMEOUT_MS = 180_000;

async function scoreOf(rates: Rates): Promise<Score> {
  const place = temporaryPlace();
  try {
    const played = await simulate({
      ...{ seed: 3, days: 5, people: 150, tickMs: 180 * 60_000, rates, endMs: Date.now(), dataDir: place.dataDir },
    });
    const score = await scoreMarket(played);
    const lines = played.truth.people.map((person) => truthLine(person, "Asia/Shanghai"));
    expect(lines).toHaveLength(score.market.people);
    expect(JSON.parse(lines[0]!)).toMatchObject({ registeredAtMs: expect.any(Number), activeDays: expect.any(Array) });
    await played.stop();
    return score;
  } finally {
    place.remove();
  }
}

test("in a small market with everything that goes wrong, the server reaches every target", {
  timeout: TIMEOUT_MS,
}, async () => {
  const score = await scoreOf({ ...DEFAULT_RATES, quietSpam: 0, touchLost: 0 });
  expect(TARGETS.filter(({ of, holds }) => !holds(of(score))).map(({ what, of }) => `${what}: ${of(score)}`)).toEqual(
    [],
  );
  expect(score.market.people).toBeGreaterThan(100);
  expect(score.events.acknowledged).toBeGreaterThan(500);
  expect(score.postbacks.justified).toBeGreaterThan(100);
  expect(scoreTables(score)).toContain("| precision of the deterministic methods |");
});

test("where nothing is lost, hidden or forged, the reports say the truth without any error", {
  timeout: TIMEOUT_MS,
}, async () => {
  const { reports, attribution } = await scoreOf(COMPLETE_RATES);
  expect(reports.truth).toEqual({ users: 0, cost: 0, roi: 0, ltv: 0, retention: 0 });
  expect(attribution.deterministic).toMatchObject({ precision: 1, recall: 1 });
});
