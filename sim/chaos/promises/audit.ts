import type { Random } from "../../market/random.ts";
import type { Placed } from "../../score/findings.ts";
import type { Findings } from "../findings.ts";
import type { Place } from "../place.ts";
import { countedOnce } from "./counted-once.ts";
import { everythingThere } from "./everything-there.ts";
import { explained } from "./explained.ts";
import { maxima } from "./maxima.ts";
import { openedNumbers } from "./opened-numbers.ts";
import { toldOnce } from "./told-once.ts";

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

const NEWCOMERS_MAX = 300;

/**
 * Holds everything that a server has come to rest with against the truth. What only a fault can see, such as whether
 * collection went on meanwhile, the fault adds itself.
 */
export async function audit(place: Place, findings: Findings, random: Random): Promise<void> {
  const { durable } = await place.progress();
  await place.journal.readOn(durable);
  const people = await knownPeople(place);
  const newcomers = people.filter(({ person }) => !place.seen.has(person.clientId)).slice(0, NEWCOMERS_MAX);
  const waitForApple = await loadWaitForApple(place);
  const given: Audit = { place, findings, random, durable, people, newcomers, waitForApple };
  await everythingThere(given);
  await countedOnce(given);
  await toldOnce(given);
  await maxima(given);
  await openedNumbers(given);
  await explained(given);
  for (const { person } of newcomers) place.seen.add(person.clientId);
}

async function knownPeople({ pool, operator, truth }: Place): Promise<Known[]> {
  const { rows } = await pool.query(
    `select client_id, ad_platform as platform, aid, method, touched_at_ms as touched from user_account where app_id = $1`,
    [operator.app.appId],
  );
  const byClient = new Map(rows.map((row) => [row.client_id, row]));
  return truth.people.flatMap((person) => {
    const row = byClient.get(person.clientId);
    if (!row) return [];
    const touchedAtMs = row.touched === null ? null : Number(row.touched);
    return [{ person, found: { platform: row.platform, aid: row.aid, method: row.method, touchedAtMs } }];
  });
}

async function loadWaitForApple({ pool, operator }: Place): Promise<Set<string>> {
  const { rows } = await pool.query("select client_id from asa_token where outcome = '' and app_id = $1", [
    operator.app.appId,
  ]);
  return new Set(rows.map((row) => row.client_id));
}

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
