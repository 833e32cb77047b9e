/** What the server promises; the numbers are those of docs/ARCHITECTURE.md. */
export const PROMISES = {
  1: "nothing acknowledged is missing or there twice",
  2: "each journal entry takes effect exactly once",
  3: "the same journal gives the same tables",
  4: "received = stored + duplicate + rejected, for every app and minute",
  5: "collection goes on without the database; a short disk refuses with 503 first",
  6: "postbacks are told once, as what happened justifies; a stale attempt counts for nothing",
  7: "what cannot be understood is set aside and blocks nothing",
  8: "memory, queues and connections stay within their maxima",
  9: "a number of a report opens to rows that add up to it",
  10: "every attribution is explained, with all its candidates",
} as const;
export type PromiseNumber = keyof typeof PROMISES;
export const PROMISE_NUMBERS = Object.keys(PROMISES).map(Number) as PromiseNumber[];

export type Violation = { promise: PromiseNumber; text: string };

const SHOWN = 3;

/** What came of holding a server against the truth. */
export class Findings {
  readonly violations: Violation[] = [];
  readonly checked = new Map<PromiseNumber, number>();
  /** What this system did not allow, so that less was done than the fault says. */
  readonly notes: string[] = [];
  /** Acknowledged events that are not there, and events that are there more than once. */
  lost = 0;
  doubled = 0;
  /** Postbacks whose answer was lost with the sender, at platforms that do not know repeats: given up, and told so. */
  givenUp = 0;
  /** What was acknowledged and destroyed on purpose. */
  destroyed = 0;

  /** `text` says what is the case where it does not hold. */
  hold(promise: PromiseNumber, holds: boolean, text: string): void {
    this.checked.set(promise, (this.checked.get(promise) ?? 0) + 1);
    if (!holds) this.violations.push({ promise, text });
  }

  equal(promise: PromiseNumber, what: string, { is, should }: { is: unknown; should: unknown }): void {
    const [left, right] = [JSON.stringify(is), JSON.stringify(should)];
    this.hold(promise, left === right, `${what}: ${left} instead of ${right}`);
  }

  /** Of these there must be none. */
  none(promise: PromiseNumber, what: string, list: readonly unknown[]): void {
    const shown = list.slice(0, SHOWN).map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    this.hold(promise, list.length === 0, `${list.length} ${what}: ${shown.join("; ")}`);
  }
}
