import type pg from "pg";
import { findRegistered } from "../db/user-account.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import type { EntryLog, Place, Position } from "../journal/entry-log.ts";
import { within } from "../within.ts";

const LOOKUP_BATCH_MAX = 500;
const LOOKUP_QUEUE_MAX = 20_000;

export type Registered = "yes" | "no" | "unknown";

const LOOKUP_MS_MAX = 1_000;

type Asked = { key: UserKey; resolve: (registered: Registered) => void };

export type KnownClientsOptions = {
  pool: pg.Pool;
  clientsMax: number;
  partitionOf: EntryLog["partitionOf"];
  /** Whether apply is still behind what a partition held at the start. */
  isBehind: (partition: number) => boolean;
  /** How to catch up with what other processes append (see SharedLog); undefined when only this one does. */
  shared?:
    | {
        catchUp(partition: number): Promise<Position | undefined>;
        isReached(place: Place): Promise<boolean>;
      }
    | undefined;
};

const keyOf = (appId: number, clientId: string) => `${appId}:${clientId}`;

/**
 * Tells whether a client is registered, from memory for nearly every request. Misses that come together are looked up
 * in the database together. When the database cannot tell (it is away, slow, or still behind the journal that was there
 * at start) the answer is "unknown": the request is admitted, and apply decides in the order of the journal.
 *
 * In a shared log, another process may have taken the registration a moment ago. A client that is not found is looked up
 * again once apply has passed what the log holds now.
 */
export class KnownClients {
  readonly #pool: pg.Pool;
  readonly #halfMax: number;
  readonly #partitionOf: EntryLog["partitionOf"];
  readonly #isBehind: (partition: number) => boolean;
  readonly #shared: KnownClientsOptions["shared"];
  /** Grows whenever something is forgotten: a look-up from before then may be outdated. */
  #forgotten = 0;
  /** Two generations: when the young one is full, the old one is forgotten. Costs less than exact recency. */
  #young = new ClientSet();
  #old = new ClientSet();
  /** Registrations that are in the journal but perhaps not yet in the tables, by partition, with their position. */
  readonly #journaled = new Map<number, Map<string, UserKey & { position: Position }>>();
  #waiting: Asked[] = [];
  /** The number of those who wait for apply to catch up. */
  #later = 0;
  #isLookingUp = false;
  /** A look-up that is late. Until it ends nobody waits for another one, which would be as late. */
  #late: Promise<unknown> | undefined;

  constructor(options: KnownClientsOptions) {
    this.#shared = options.shared;
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
    if (this.#waiting.length + this.#later >= LOOKUP_QUEUE_MAX || this.#late) return "unknown";
    // Read before the look-up: if the journal found at start has been applied by now, the look-up's result is complete.
    const isBehind = this.#isBehind(this.#partitionOf(appId));
    const forgotten = this.#forgotten;
    const found = await this.#lookUp({ appId, clientId });
    if (found === "yes" && forgotten === this.#forgotten) this.#remember(appId, clientId);
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
    this.#forgotten += 1;
    this.#young.delete(appId, clientId);
    this.#old.delete(appId, clientId);
    this.#journaledOf(appId)?.delete(keyOf(appId, clientId));
  }

  forgetAll(): void {
    this.#forgotten += 1;
    this.#young = new ClientSet();
    this.#old = new ClientSet();
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
      const missed = await this.#answer(this.#waiting.splice(0, LOOKUP_BATCH_MAX), this.#shared ? "later" : "no");
      // Others do not wait for those whom apply has to catch up with.
      if (missed.length > 0) void this.#lookUpLater(missed);
    }
    this.#isLookingUp = false;
  }

  /** Answers those of a group about whom something is known. Returns the ones that were not found, if they are for later. */
  async #answer(group: readonly Asked[], ifMissing: "no" | "later"): Promise<Asked[]> {
    const found = await this.#find(group.map(({ key }) => key));
    const registered = found && new Set(found.map((key) => keyOf(key.appId, key.clientId)));
    const missed: Asked[] = [];
    for (const asked of group) {
      if (!registered) asked.resolve("unknown");
      else if (registered.has(keyOf(asked.key.appId, asked.key.clientId))) asked.resolve("yes");
      else if (ifMissing === "no") asked.resolve("no");
      else missed.push(asked);
    }
    return missed;
  }

  async #lookUpLater(missed: readonly Asked[]): Promise<void> {
    const byPartition = new Map<number, Asked[]>();
    for (const asked of missed) {
      const partition = this.#partitionOf(asked.key.appId);
      const others = byPartition.get(partition);
      if (others) others.push(asked);
      else byPartition.set(partition, [asked]);
    }
    this.#later += missed.length;
    await Promise.all([...byPartition].map(([partition, group]) => this.#lookUpBehind(partition, group)));
    this.#later -= missed.length;
  }

  /** Looks clients up once apply has passed the end of their partition, in tables that are not set back meanwhile. */
  async #lookUpBehind(partition: number, group: readonly Asked[]): Promise<void> {
    const shared = this.#shared!;
    const position = await shared.catchUp(partition).catch(() => undefined);
    const isReached = async () =>
      position !== undefined && (await shared.isReached({ partition, position }).catch(() => false));
    const missed = (await isReached()) ? await this.#answer(group, "later") : group;
    const answer = missed.length > 0 && missed !== group && (await isReached()) ? "no" : "unknown";
    for (const { resolve } of missed) resolve(answer);
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
