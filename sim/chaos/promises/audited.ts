import type { Random } from "../../market/random.ts";
import type { Placed } from "../../score/findings.ts";
import type { Findings } from "../findings.ts";
import type { Place } from "../place.ts";

/** What the server says of a person whom it knows. */
export type Known = Placed & { found: { method: string } };

export type Audit = {
  place: Place;
  findings: Findings;
  random: Random;
  /** The last durable byte of the journal. */
  durable: number;
  people: readonly Known[];
  /** Of these, some whom nobody has looked at yet: whoever is left over is asked about after the next round. */
  newcomers: readonly Known[];
  /** Apple was asked about them, and whoever asked has died since: it is asked again after a while. */
  waitForApple: ReadonlySet<string>;
};

/** On either side of a step, what the two clocks call the same instant is not certain. */
const STEP_MS = 2_000;

/**
 * Whether the truth knows what the server has to come to: not of people of whom something was destroyed, who registered
 * while the clock was off, or whose platform has not called yet.
 */
export function isCertain({ place, waitForApple }: Audit, { person, found }: Known): boolean {
  if (place.journal.struckPeople.has(person.clientId)) return false;
  const isOff = place.offClock.some(
    ({ fromMs, untilMs, aheadMs }) =>
      person.registeredAtMs - aheadMs >= fromMs - STEP_MS && person.registeredAtMs - aheadMs <= untilMs + STEP_MS,
  );
  if (isOff) return false;
  // Who shares address and phone with a touch of somebody else's is given to it: that is what the method is.
  if (person.source === null) return found.method !== "ip_ua";
  if (person.source.platform === "asa") return !waitForApple.has(person.clientId);
  const isLaunched = person.method === "launch_query" || person.method === "reported";
  return isLaunched || person.touches.some(({ token }) => token === person.token);
}
