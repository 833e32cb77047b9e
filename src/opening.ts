import type pg from "pg";
import type { Clock } from "./clock.ts";
import type { Config } from "./config.ts";
import type { Database } from "./db/engine/database.ts";
import { untilReached } from "./db/engine/database.ts";
import { readCursors } from "./db/journal-cursor.ts";
import type { ApplyHold } from "./db/lock/apply-lock.ts";
import { messageOf, UsageError } from "./errors.ts";
import { type Keys, openKeys } from "./installation.ts";
import type { ServedApp } from "./intake/app-directory.ts";
import { type KnownSettings, readSettingsCopy, settingsFileOf } from "./intake/settings-copy.ts";
import { assertColdDays } from "./lake/cold-start.ts";
import type { Log } from "./log.ts";
import { type Loop, startLoop } from "./loop.ts";
import { keepViews } from "./report/view/views.ts";
import { findVault, type Vault } from "./vault.ts";
import { within } from "./within.ts";

/** How long a start waits for the database when it could do without. An embedded one may have to recover first. */
const WAIT_MS = { external: 3_000, embedded: 15_000 } as const;
const TRY_AGAIN_MS = 1_000;

/** What the rest of the start needs; `apps` only when they come from the copy. */
export type Begun = Keys & { applied: readonly number[]; apps?: ServedApp[] };

/**
 * Opens the database, at the start or later:
 *
 *   reach ──in time──▶ lock, migrate, keys ──▶ everything starts
 *     └─not, and there is a copy of the settings──▶ collection starts ──▶ reach, lock, migrate, keys, again and again ──▶ the rest
 *
 * A mistake of the operator (another process applies, a wrong key, a newer schema, a lake elsewhere) ends a start. After a start without
 * the database it is said by `missing`, and collection goes on.
 */
export class Opening {
  readonly #options: OpeningOptions;
  #copy: KnownSettings | undefined;
  /** The vault that everything uses since a start from the copy. */
  #vault: Vault | undefined;
  #obstacle: string | undefined;
  #loop: Loop | undefined;

  constructor(options: OpeningOptions) {
    this.#options = options;
  }

  /** Opens the database, or reads the copy of the settings when it is away. */
  async begin(): Promise<Begun> {
    const { config, database, journalId, clock, log } = this.#options;
    const vault = findVault(config);
    const copy = await readSettingsCopy(config.dataDir, { vault, journalId, nowMs: clock() });
    if (typeof copy === "string") {
      log.debug({ reason: copy }, "The start waits for the database.");
      await untilReached(database, log);
      return this.#open("first");
    }
    const begun = await this.#openInTime();
    if (begun) return begun;
    this.#copy = copy;
    this.#vault = vault;
    log.warn(this.missing());
    return { ...copy, vault: vault! };
  }

  /** Runs `rest` once the database is open: at once, or later, if the start does without. */
  async complete(rest: () => Promise<void>): Promise<void> {
    if (!this.#copy) return rest();
    const { log, database } = this.#options;
    this.#loop = startLoop({
      name: "opening the database",
      log,
      idleMs: TRY_AGAIN_MS,
      failureMsMax: TRY_AGAIN_MS,
      onTrouble: (trouble) => {
        if (!trouble) return;
        this.#obstacle = messageOf(trouble.failure);
        log.warn(this.missing());
      },
      turn: async () => {
        if (!this.#copy) return "idle";
        await database.reach();
        await this.#open("existing");
        await this.#completeWith(rest);
        this.#copy = undefined;
        log.warn("The database is open; everything works again.");
        return "idle";
      },
    });
  }

  /** What does not work since the start, and why; undefined when all does. */
  missing(): string | undefined {
    if (!this.#copy) return undefined;
    const since = new Date(this.#copy.savedAtMs).toISOString();
    const why = this.#obstacle ?? "it does not answer";
    return `The database could not be opened since the start: ${why} Data is collected by the settings of ${since} and waits in the journal; reports, the console, postbacks and costs wait for the database.`;
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
  }

  async #completeWith(rest: () => Promise<void>): Promise<void> {
    try {
      await rest();
    } catch (error) {
      // The next try takes the lock on a new connection.
      await this.#options.lock?.release();
      throw error;
    }
  }

  async #openInTime(): Promise<Begun | undefined> {
    const { database } = this.#options;
    try {
      await within(WAIT_MS[database.kind], database.reach());
      return await this.#open("first");
    } catch (error) {
      if (error instanceof UsageError) throw error;
      this.#obstacle = messageOf(error);
      return undefined;
    }
  }

  async #open(start: "first" | "existing"): Promise<Begun> {
    const { config, database, lock, journalId, log, clock } = this.#options;
    let begun: Begun | undefined;
    const afterMigrate = async (pool: pg.Pool) => {
      await assertColdDays(pool, config);
      await keepViews(pool, log);
      const keys = await openKeys(pool, config, start);
      this.#assertSameInstallation(keys);
      begun = { ...keys, applied: await readCursors(pool, journalId) };
    };
    try {
      await database.open({ log, clock, beforeMigrate: (connection) => lock?.take(connection), afterMigrate });
    } catch (error) {
      await lock?.release();
      throw error;
    }
    return begun!;
  }

  /** Data that was accepted for the apps of one installation must not be applied to another. */
  #assertSameInstallation({ vault, userTokenKey }: Keys): void {
    if (!this.#copy) return;
    if (this.#copy.userTokenKey.equals(userTokenKey)) {
      if (vault.fingerprint === this.#vault?.fingerprint) return;
      throw new UsageError("The key was replaced since the start, and this process has the old one: restart it.");
    }
    throw new UsageError(
      `DATABASE_URL leads to another installation than the one whose settings are in use: correct it, or remove ${settingsFileOf(this.#options.config.dataDir)} and start again.`,
    );
  }
}

export type OpeningOptions = {
  config: Config;
  database: Database;
  lock: ApplyHold | undefined;
  journalId: string;
  log: Log;
  clock: Clock;
};
