/** What the server promises, numbered as in docs/ARCHITECTURE.md. */
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

/** The results of checking a server against the truth. */
export class Findings {
  readonly violations: Violation[] = [];
  readonly checked = new Map<PromiseNumber, number>();
  /** What this system did not allow, so that a fault did less than it says. */
  readonly notes: string[] = [];
  /** Acknowledged events that are missing, and events that are stored more than once. */
  lost = 0;
  doubled = 0;
  /** Postbacks that failed because their answer was lost with the sender, at platforms that do not recognise repeats. */
  givenUp = 0;
  /** Acknowledged events that were destroyed on purpose. */
  destroyed = 0;

  /** Records a check; `text` describes the failure. */
  hold(promise: PromiseNumber, holds: boolean, text: string): void {
    this.checked.set(promise, (this.checked.get(promise) ?? 0) + 1);
    if (!holds) this.violations.push({ promise, text });
  }

  equal(promise: PromiseNumber, what: string, { is, should }: { is: unknown; should: unknown }): void {
    const [left, right] = [JSON.stringify(is), JSON.stringify(should)];
    this.hold(promise, left === right, `${what}: ${left} instead of ${right}`);
  }

  /** Checks that the list is empty. */
  none(promise: PromiseNumber, what: string, list: readonly unknown[]): void {
    const shown = list.slice(0, SHOWN).map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
    this.hold(promise, list.length === 0, `${list.length} ${what}: ${shown.join("; ")}`);
  }
}
