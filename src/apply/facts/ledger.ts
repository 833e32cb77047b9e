import type { LedgerCount } from "../../db/ledger-minute.ts";

const MINUTE_MS = 60_000;

/** Counts by app, minute and outcome. */
export class Ledger {
  readonly #counts = new Map<string, LedgerCount>();

  add({ app: appId, at }: { app: number; at: number }, outcome: string, events: number): void {
    if (events === 0) return;
    const minuteMs = Math.floor(at / MINUTE_MS) * MINUTE_MS;
    const key = `${appId} ${minuteMs} ${outcome}`;
    const known = this.#counts.get(key);
    if (known) known.events += events;
    else this.#counts.set(key, { appId, minuteMs, outcome, events });
  }

  list(): LedgerCount[] {
    return [...this.#counts.values()];
  }

  /** The counts by outcome over all apps and minutes. */
  sums(): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const { outcome, events } of this.#counts.values()) sums[outcome] = (sums[outcome] ?? 0) + events;
    return sums;
  }
}
