import { expect, test } from "vitest";
import { type Counted, SignInLimits } from "../../../src/http/admin/session/sign-in-limits.ts";
import { LIMITS } from "../../../src/limits.ts";

const MINUTE_MS = 60_000;
const OWN: Counted = { key: "own", free: 3, onSuccess: "forget" };
const SHARED: Counted = { key: "shared", free: 5, onSuccess: "give_back" };

/** The seconds to wait; 0 if the attempt may be made and counts. */
function waitS(limits: SignInLimits, counted: readonly Counted[], nowMs: number): number {
  try {
    limits.begin(counted, nowMs);
    return 0;
  } catch (error) {
    expect(error).toMatchObject({ reason: "rateLimited" });
    return (error as { retryAfterS: number }).retryAfterS;
  }
}

test("an attempt counts before it is checked: of many at once, no more pass than may fail", () => {
  const limits = new SignInLimits();
  const waits = Array.from({ length: 400 }, () => waitS(limits, [OWN], 0));
  expect(waits.filter((seconds) => seconds === 0)).toHaveLength(3);
  expect(waits.at(-1)).toBe(15);
});

test("each further failure doubles the wait, up to a quarter of an hour; after an hour all is forgotten", () => {
  const limits = new SignInLimits();
  for (let tries = 0; tries < 3; tries += 1) limits.begin([OWN], 0);
  let nowMs = 0;
  const waits = Array.from({ length: 9 }, () => {
    const seconds = waitS(limits, [OWN], nowMs);
    nowMs += seconds * 1000;
    limits.begin([OWN], nowMs);
    return seconds;
  });
  expect(waits).toEqual([15, 30, 60, 120, 240, 480, 900, 900, 900]);
  nowMs += 60 * MINUTE_MS;
  for (let tries = 0; tries < 3; tries += 1) limits.begin([OWN], nowMs);
  expect(waitS(limits, [OWN], nowMs)).toBe(15);
});

test("an attempt during the wait does not prolong it", () => {
  const limits = new SignInLimits();
  for (let tries = 0; tries < 3; tries += 1) limits.begin([OWN], 0);
  expect([waitS(limits, [OWN], 1_000), waitS(limits, [OWN], 14_000), waitS(limits, [OWN], 15_000)]).toEqual([14, 1, 0]);
});

test("a success clears the person's own failures, but only itself from the shared counts", () => {
  const limits = new SignInLimits();
  for (let tries = 0; tries < 2; tries += 1) limits.begin([OWN, SHARED], 0);
  limits.begin([OWN, SHARED], 0).succeeded();
  for (let tries = 0; tries < 3; tries += 1) expect(waitS(limits, [OWN], 0)).toBe(0);
  expect(waitS(limits, [OWN], 0)).toBe(15);
  for (let tries = 0; tries < 3; tries += 1) expect(waitS(limits, [SHARED], 0)).toBe(0);
  expect(waitS(limits, [SHARED], 0)).toBe(15);
});

test("an attempt that was never checked leaves everything as it was", () => {
  const limits = new SignInLimits();
  for (let tries = 0; tries < 3; tries += 1) limits.begin([OWN], 0);
  limits.begin([OWN], 20_000).unchecked();
  expect(waitS(limits, [OWN], 20_000)).toBe(0);
  const [first, second] = [limits.begin([SHARED], 0), limits.begin([SHARED], 0)];
  first.unchecked();
  second.unchecked();
  for (let tries = 0; tries < 5; tries += 1) expect(waitS(limits, [SHARED], 0)).toBe(0);
  expect(waitS(limits, [SHARED], 0)).toBe(15);
});

test("failures beyond the limit push out the oldest", () => {
  const limits = new SignInLimits();
  for (let tries = 0; tries < 3; tries += 1) limits.begin([OWN], 0);
  for (let number = 0; number < LIMITS.signInFailures - 1; number += 1) limits.begin([{ ...OWN, key: `${number}` }], 1);
  expect(waitS(limits, [OWN], 1)).toBe(15);
  limits.begin([{ ...OWN, key: "one more" }], 1);
  expect(waitS(limits, [OWN], 1)).toBe(0);
});
