/** What the ordinary clients sent, and what of it was acknowledged. */
export class Book {
  /** By serial. */
  readonly sentEvents = new Set<string>();
  readonly events = new Set<string>();
  readonly users = new Set<string>();
  readonly sentUsers = new Set<string>();
  readonly clicks = new Set<string>();
  readonly sentClicks = new Set<string>();
  /** By TraceID, in cents. */
  readonly orders = new Map<string, number>();
  readonly sentOrders = new Set<string>();
  /** Answers that no ordinary client should get, and how often. */
  readonly refusals = new Map<string, number>();
  calls = 0;
  acknowledged = 0;

  refused(answer: string): void {
    this.refusals.set(answer, (this.refusals.get(answer) ?? 0) + 1);
  }
}
