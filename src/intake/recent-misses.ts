/** Names that a recent look-up did not find, so that asking for them again costs nothing. */
export class RecentMisses {
  readonly #namesMax: number;
  readonly #keepMs: number;
  /** Expiry by name. All are kept equally long, so the first is always the oldest. */
  readonly #untilMs = new Map<string, number>();

  constructor(options: { namesMax: number; keepMs: number }) {
    this.#namesMax = options.namesMax;
    this.#keepMs = options.keepMs;
  }

  has(name: string, nowMs: number): boolean {
    return nowMs < (this.#untilMs.get(name) ?? 0);
  }

  add(name: string, nowMs: number): void {
    this.#untilMs.delete(name);
    this.#untilMs.set(name, nowMs + this.#keepMs);
    if (this.#untilMs.size > this.#namesMax) this.#untilMs.delete(this.#untilMs.keys().next().value!);
  }
}
