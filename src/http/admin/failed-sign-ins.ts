import type pg from "pg";
import type { Clock } from "../../clock.ts";
import { addAudit, changeAudit } from "../../db/audit-log.ts";
import { countedAddress } from "../../domain/network.ts";
import { messageOf } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { Log } from "../../log.ts";

/** What a person tried to sign in with. */
export type SignInMethod =
  | "password"
  | "one-time link"
  | "admin token"
  | "API token"
  | "second factor"
  | "identity provider";

type Failure = {
  address: string;
  by: SignInMethod;
  /** The name of an existing person only: people sometimes type their password as the name. */
  user?: string | undefined;
};

type Entry = { count: number; methods: Set<SignInMethod>; users: Set<string>; auditId: number | undefined };

const HOUR_MS = 3_600_000;
const OTHERS = "other addresses";

/**
 * Failed sign-ins in the audit log. Anybody can fail as often as they like, so the log keeps one entry per address and
 * hour, a bounded number of them, and one for all other addresses. Each failure up to the tenth is written, then every
 * doubling. No response waits for the write: how long a refusal takes must not reveal anything.
 */
export class FailedSignIns {
  readonly #options: { pool: pg.Pool; clock: Clock; log: Log };
  readonly #entries = new Map<string, Entry>();
  #hourEndsMs = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: { pool: pg.Pool; clock: Clock; log: Log }) {
    this.#options = options;
  }

  note({ address, by, user }: Failure): void {
    const nowMs = this.#options.clock();
    if (nowMs >= this.#hourEndsMs) {
      this.#entries.clear();
      this.#hourEndsMs = nowMs + HOUR_MS;
    }
    const [key, entry] = this.#entryOf(countedAddress(address));
    const known = entry.methods.size + entry.users.size;
    entry.count += 1;
    entry.methods.add(by);
    if (user !== undefined && entry.users.size < LIMITS.failedSignInNames) entry.users.add(user);
    const isNew = entry.methods.size + entry.users.size > known;
    if (!isNew && entry.count > 10 && !isPowerOfTwo(entry.count)) return;
    this.#writing = this.#writing.then(() => this.#write(key, entry, nowMs));
  }

  /** Resolves when everything noted so far is in the log. */
  written(): Promise<void> {
    return this.#writing;
  }

  #entryOf(address: string): [string, Entry] {
    const isFull = this.#entries.size >= LIMITS.failedSignInEntries;
    const key = isFull && !this.#entries.has(address) ? OTHERS : address;
    const known = this.#entries.get(key);
    if (known) return [key, known];
    const entry: Entry = { count: 0, methods: new Set(), users: new Set(), auditId: undefined };
    this.#entries.set(key, entry);
    return [key, entry];
  }

  async #write(address: string, entry: Entry, atMs: number): Promise<void> {
    const { pool, log } = this.#options;
    const details = { failures: entry.count, by: [...entry.methods], users: [...entry.users], last_at_ms: atMs };
    try {
      if (entry.auditId !== undefined) return await changeAudit(pool, entry.auditId, details);
      const about = { actor: "unknown", action: "session/sign-in failed", appId: null };
      entry.auditId = await addAudit(pool, { atMs, address, details, ...about });
    } catch (error) {
      log.warn({ reason: messageOf(error) }, "Could not record a failed sign-in in the audit log.");
    }
  }
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0;
}
