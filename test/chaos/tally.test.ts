import { expect, test } from "vitest";
import { reliabilityPage } from "../../sim/chaos/reliability-page.ts";
import type { RoundOutcome } from "../../sim/chaos/round.ts";
import { isFlawless, tallyOf } from "../../sim/chaos/tally.ts";

const KEPT: RoundOutcome = {
  number: 1,
  fault: "kill_server",
  site: "embedded",
  tookMs: 1_000,
  stepsMs: {},
  calls: 50,
  sent: 120,
  acknowledged: 100,
  unaudited: 0,
  destroyed: 0,
  lost: 0,
  doubled: 0,
  givenUp: 0,
  checked: { 1: 4, 2: 5 },
  violations: [],
  notes: [],
};
const LOSING: RoundOutcome = {
  ...KEPT,
  number: 2,
  fault: "clock_step",
  lost: 1,
  violations: [{ promise: 1, text: "1 acknowledged events are missing: s1\nand more" }],
};
const STUCK: RoundOutcome = {
  ...KEPT,
  number: 3,
  fault: "kill_all",
  acknowledged: 0,
  unaudited: 70,
  checked: {},
  failure: "Waited 90 s in vain: every platform has been told.\nits log",
};

test("rounds that kept every promise are flawless; a violation or an early end is not", () => {
  expect(isFlawless(tallyOf([KEPT, KEPT]))).toBe(true);
  expect(isFlawless(tallyOf([KEPT, LOSING]))).toBe(false);
  expect(isFlawless(tallyOf([KEPT, STUCK]))).toBe(false);
});

test("events of a round without an audit do not count as kept", () => {
  const { events, rounds, killRounds, promises } = tallyOf([KEPT, LOSING, STUCK]);
  expect(events).toMatchObject({ acknowledged: 200, unaudited: 70, lost: 1, doubled: 0 });
  expect({ rounds, killRounds }).toEqual({ rounds: 3, killRounds: 2 });
  expect(promises[1]).toEqual({ rounds: 2, checks: 8, violated: 1 });
});

const RUN = {
  given: { rounds: "3", seed: "1", rate: "5", replay: "20", faults: undefined },
  minutes: 4,
  made: { date: "2026-11-15", commit: "abc1234", machine: "2 cores, 24 GiB" },
};

test("the page says how it was made, and what was found", () => {
  const page = reliabilityPage(tallyOf([KEPT]), RUN);
  expect(page).toContain("npm run chaos -- --rounds 3 --seed 1 --rate 5 --replay 20\n");
  expect(page).toContain("Made on 2026-11-15 at commit abc1234, on 2 cores, 24 GiB. It took 4 minutes.");
  expect(page).toContain("**0 of 100 acknowledged events were lost and 0 doubled, in 1 rounds, 1 of them kills.**");
  expect(page).not.toContain("## Broken");
});

test("the page hides no failure", () => {
  const page = reliabilityPage(tallyOf([KEPT, LOSING, STUCK]), RUN);
  expect(page).toContain("**1 of 200 acknowledged events were lost");
  expect(page).toContain("- Round 2, clock_step, promise 1: 1 acknowledged events are missing: s1\n");
  expect(page).toContain(
    "- Round 3, kill_all, did not come to its end: Waited 90 s in vain: every platform has been told.",
  );
  expect(page).toContain("1 rounds did not come to their end; 70 events");
});
