import type { Random } from "../../market/random.ts";
import type { Attributed } from "../../score/findings.ts";
import type { Findings } from "../findings.ts";
import type { Site } from "../site.ts";

/** The server's view of a person whom it knows. */
export type Known = Attributed & { found: { method: string } };

export type Audit = {
  site: Site;
  findings: Findings;
  random: Random;
  /** The end of the durable journal. */
  durable: number;
  people: readonly Known[];
  /** Some people who have not been checked yet; the rest are left for the next round. */
  newcomers: readonly Known[];
  /** People whose token was being resolved at Apple by a process that has died: it is resolved again later. */
  waitForApple: ReadonlySet<string>;
};

/** The uncertainty around a step of the clock, in which the two clocks may not agree on an instant. */
const STEP_MS = 2_000;

/**
 * Whether the truth knows what the server must decide. It does not for people of whom data was destroyed, who registered
 * while the clock was off, or whose platform has not called yet.
 */
export function isCertain({ site, waitForApple }: Audit, { person, found }: Known): boolean {
  if (site.journal.struckPeople.has(person.clientId)) return false;
  const isOff = site.offClock.some(
    ({ fromMs, untilMs, aheadMs }) =>
      person.registeredAtMs - aheadMs >= fromMs - STEP_MS && person.registeredAtMs - aheadMs <= untilMs + STEP_MS,
  );
  if (isOff) return false;
  // A person who shares address and phone with another's touch is attributed to it: that is how the method works.
  if (person.source === null) return found.method !== "ip_ua";
  if (person.source.platform === "asa") return !waitForApple.has(person.clientId);
  const isLaunched = person.method === "launch_query" || person.method === "reported";
  return isLaunched || person.touches.some(({ token }) => token === person.token);
}
