import type pg from "pg";
import { LIMITS } from "../config.ts";
import { findRegistered, type UserKey } from "../db/user-account.ts";

export type Registered = "yes" | "no" | "unknown";

const LOOKUP_MS_MAX = 1_000;

const keyOf = (appId: number, clientId: string) => `${appId}:${clientId}`;

/**
 * Who is registered, answered from memory for nearly every request. A miss is looked up in the database together with
 * the other misses of the moment. When the database cannot tell (it is away, slow, or still behind the journal that
 * was there at start) the answer is "unknown": the request is admitted, and apply decides in the order of the journal.
 */
export class KnownClients {
  readonly #pool: pg.Pool;
  readonly #halfMax: number;
  readonly #isBehind: () => boolean;
  /** Two generations: when the young one is full, the old one is forgotten. Costs less than exact recency. */
  #young = new Set<string>();
  #old = new Set<string>();
  /** Registrations that are in the journal but perhaps not yet in the tables, with their position. */
  readonly #journaled = new Map<string, number>();
  #waiting: { key: UserKey; resolve: (registered: Registered) => void }[] = [];
  #isLookingUp = false;

  constructor(options: { pool: pg.Pool; clientsMax: number; isBehind: () => boolean }) {
    this.#pool = options.pool;
    this.#halfMax = Math.max(1, options.clientsMax >> 1);
    this.#isBehind = options.isBehind;
  }

  /** From memory alone; false only means that it takes a look-up. */
  isKnown(appId: number, clientId: string): boolean {
    const key = keyOf(appId, clientId);
    if (this.#young.has(key)) return true;
    if (!this.#old.has(key) && !this.#journaled.has(key)) return false;
    this.#remember(key);
    return true;
  }

  async check(appId: number, clientId: string): Promise<Registered> {
    if (this.isKnown(appId, clientId)) return "yes";
    if (this.#waiting.length >= LIMITS.clientLookupQueue) return "unknown";
    // Before the look-up: if the journal of the start has been applied by now, what the look-up finds is complete.
    const isBehind = this.#isBehind();
    const found = await this.#lookUp({ appId, clientId });
    if (found === "yes") this.#remember(keyOf(appId, clientId));
    return found === "no" && isBehind ? "unknown" : found;
  }

  /** A registration has become durable at `position`. */
  journaled(appId: number, clientId: string, position: number): void {
    this.#journaled.set(keyOf(appId, clientId), position);
  }

  /** Everything before `position` is in the tables: a look-up finds it there. */
  applied(position: number): void {
    // In the order of insertion, which is the order of positions.
    for (const [key, at] of this.#journaled) {
      if (at > position) break;
      this.#journaled.delete(key);
      this.#remember(key);
    }
  }

  forget(appId: number, clientId: string): void {
    const key = keyOf(appId, clientId);
    this.#young.delete(key);
    this.#old.delete(key);
    this.#journaled.delete(key);
  }

  #remember(key: string): void {
    this.#young.add(key);
    if (this.#young.size < this.#halfMax) return;
    this.#old = this.#young;
    this.#young = new Set();
  }

  #lookUp(key: UserKey): Promise<Registered> {
    return new Promise((resolve) => {
      this.#waiting.push({ key, resolve });
      if (!this.#isLookingUp) {
        this.#isLookingUp = true;
        setImmediate(() => void this.#lookUpAll());
      }
    });
  }

  async #lookUpAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, LIMITS.clientLookupBatch);
      const keys = group.map(({ key }) => key);
      const found = await withDeadline(findRegistered(this.#pool, keys));
      const registered = found && new Set(found.map((key) => keyOf(key.appId, key.clientId)));
      for (const { key, resolve } of group) {
        resolve(registered ? (registered.has(keyOf(key.appId, key.clientId)) ? "yes" : "no") : "unknown");
      }
    }
    this.#isLookingUp = false;
  }
}

async function withDeadline<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), LOOKUP_MS_MAX);
  });
  try {
    return await Promise.race([work.catch(() => undefined), late]);
  } finally {
    clearTimeout(timer);
  }
}
