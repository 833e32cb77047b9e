import type pg from "pg";
import { findRegistered } from "../db/user-account.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import type { EntryLog, Place, Position } from "../journal/entry-log.ts";
import { within } from "../within.ts";

const LOOKUP_BATCH_MAX = 500;
const LOOKUP_QUEUE_MAX = 20_000;

export type Registered = "yes" | "no" | "unknown";

const LOOKUP_MS_MAX = 1_000;

const keyOf = (appId: number, clientId: string) => `${appId}:${clientId}`;

/**
 * Tells whether a client is registered, from memory for nearly every request. Misses that come together are looked up
 * in the database together. When the database cannot tell (it is away, slow, or still behind the journal that was there
 * at start) the answer is "unknown": the request is admitted, and apply decides in the order of the journal.
 */
export class KnownClients {
  readonly #pool: pg.Pool;
  readonly #halfMax: number;
  readonly #partitionOf: EntryLog["partitionOf"];
  readonly #isBehind: (partition: number) => boolean;
  /** Two generations: when the young one is full, the old one is forgotten. Costs less than exact recency. */
  #young = new ClientSet();
  #old = new ClientSet();
  /** Registrations that are in the journal but perhaps not yet in the tables, by partition, with their position. */
  readonly #journaled = new Map<number, Map<string, UserKey & { position: Position }>>();
  #waiting: { key: UserKey; resolve: (registered: Registered) => void }[] = [];
  #isLookingUp = false;
  /** A look-up that is late. Until it ends nobody waits for another one, which would be as late. */
  #late: Promise<unknown> | undefined;

  /** `isBehind`: whether apply is still behind what a partition held at the start. */
  constructor(options: {
    pool: pg.Pool;
    clientsMax: number;
    partitionOf: EntryLog["partitionOf"];
    isBehind: (partition: number) => boolean;
  }) {
    this.#pool = options.pool;
    this.#halfMax = Math.max(1, options.clientsMax >> 1);
    this.#partitionOf = options.partitionOf;
    this.#isBehind = options.isBehind;
  }

  /** Whether memory alone knows the client; false only means that a look-up is needed. */
  isKnown(appId: number, clientId: string): boolean {
    if (this.#young.has(appId, clientId)) return true;
    if (!this.#old.has(appId, clientId) && !this.#journaledOf(appId)?.has(keyOf(appId, clientId))) return false;
    this.#remember(appId, clientId);
    return true;
  }

  async check(appId: number, clientId: string): Promise<Registered> {
    if (this.isKnown(appId, clientId)) return "yes";
    if (this.#waiting.length >= LOOKUP_QUEUE_MAX || this.#late) return "unknown";
    // Read before the look-up: if the journal found at start has been applied by now, the look-up's result is complete.
    const isBehind = this.#isBehind(this.#partitionOf(appId));
    const found = await this.#lookUp({ appId, clientId });
    if (found === "yes") this.#remember(appId, clientId);
    return found === "no" && isBehind ? "unknown" : found;
  }

  /** Notes a registration that has become durable at `position`. */
  journaled(appId: number, clientId: string, position: Position): void {
    const key = keyOf(appId, clientId);
    let registrations = this.#journaledOf(appId);
    if (!registrations) {
      registrations = new Map();
      this.#journaled.set(this.#partitionOf(appId), registrations);
    }
    // Deleted first, so that the order of insertion stays the order of positions.
    registrations.delete(key);
    registrations.set(key, { appId, clientId, position });
  }

  /** The position at which the tables will hold all registrations of these clients, or undefined when they do. */
  pendingUntil(appId: number, clientIds: readonly string[]): Position | undefined {
    const registrations = this.#journaledOf(appId);
    const positions = clientIds.flatMap((id) => registrations?.get(keyOf(appId, id))?.position ?? []);
    return positions.length === 0 ? undefined : Math.max(...positions);
  }

  /** Notes that everything before a place is in the tables, where a look-up finds it. */
  applied({ partition, position }: Place): void {
    const registrations = this.#journaled.get(partition);
    // In the order of insertion, which is the order of positions.
    for (const [key, registration] of registrations ?? []) {
      if (registration.position > position) break;
      registrations?.delete(key);
      this.#remember(registration.appId, registration.clientId);
    }
  }

  forget(appId: number, clientId: string): void {
    this.#young.delete(appId, clientId);
    this.#old.delete(appId, clientId);
    this.#journaledOf(appId)?.delete(keyOf(appId, clientId));
  }

  #journaledOf(appId: number) {
    return this.#journaled.get(this.#partitionOf(appId));
  }

  #remember(appId: number, clientId: string): void {
    this.#young.add(appId, clientId);
    if (this.#young.size < this.#halfMax) return;
    this.#old = this.#young;
    this.#young = new ClientSet();
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
      const group = this.#waiting.splice(0, LOOKUP_BATCH_MAX);
      const keys = group.map(({ key }) => key);
      const found = await this.#find(keys);
      const registered = found && new Set(found.map((key) => keyOf(key.appId, key.clientId)));
      for (const { key, resolve } of group) {
        resolve(registered ? (registered.has(keyOf(key.appId, key.clientId)) ? "yes" : "no") : "unknown");
      }
    }
    this.#isLookingUp = false;
  }

  /** The registered ones, or undefined when the database is away or late. */
  async #find(keys: readonly UserKey[]): Promise<UserKey[] | undefined> {
    if (this.#late) return undefined;
    const finding = findRegistered(this.#pool, keys).catch(() => undefined);
    try {
      return await within(LOOKUP_MS_MAX, finding);
    } catch {
      this.#late = finding.finally(() => {
        this.#late = undefined;
      });
      return undefined;
    }
  }
}

/** Ids by app, so that a request does not have to join app and id into one text first. */
class ClientSet {
  readonly #byApp = new Map<number, Set<string>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(appId: number, clientId: string): boolean {
    return this.#byApp.get(appId)?.has(clientId) ?? false;
  }

  add(appId: number, clientId: string): void {
    let ids = this.#byApp.get(appId);
    if (!ids) {
      ids = new Set();
      this.#byApp.set(appId, ids);
    }
    const before = ids.size;
    ids.add(clientId);
    this.#size += ids.size - before;
  }

  delete(appId: number, clientId: string): void {
    if (this.#byApp.get(appId)?.delete(clientId)) this.#size -= 1;
  }
}
