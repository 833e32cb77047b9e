/** What the ordinary clients sent, and which of it was acknowledged. */
export class Book {
  /** Serials of sent events. */
  readonly sentEvents = new Set<string>();
  readonly events = new Set<string>();
  readonly users = new Set<string>();
  readonly sentUsers = new Set<string>();
  readonly clicks = new Set<string>();
  readonly sentClicks = new Set<string>();
  /** Amounts in cents by TraceID. */
  readonly orders = new Map<string, number>();
  readonly sentOrders = new Set<string>();
  /** The number of each answer that no ordinary client should get. */
  readonly refusals = new Map<string, number>();
  calls = 0;
  acknowledged = 0;

  refused(answer: string): void {
    this.refusals.set(answer, (this.refusals.get(answer) ?? 0) + 1);
  }
}
