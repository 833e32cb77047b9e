import { timingSafeEqual } from "node:crypto";
import type pg from "pg";
import { adminToken } from "../../admin/session/admin-token.ts";
import { elapsedMs } from "../../clock.ts";
import { isDatabaseAway } from "../../db/engine/failure.ts";
import { loadInstallation } from "../../db/installation.ts";
import type { Vault } from "../../vault.ts";

/** Wrong tokens cause at most one look-up of the generation in this time: it may have been raised. */
const ASK_AGAIN_MS = 1_000;

/** Checks admin tokens against the current generation. */
export class AdminTokens {
  readonly #pool: pg.Pool;
  readonly #vault: Vault;
  #generation = 0;
  #askedMs = Number.NEGATIVE_INFINITY;

  constructor(options: { pool: pg.Pool; vault: Vault }) {
    this.#pool = options.pool;
    this.#vault = options.vault;
  }

  /**
   * The generation of a right token, undefined for any other. A token that looks right is checked against the database, so
   * that a revoked one is refused at once. A wrong token costs the database nothing, unless the generation has not been
   * looked up for a while.
   */
  async generationOf(given: string): Promise<number | undefined> {
    const wasRight = this.#matches(given);
    if (!wasRight && elapsedMs() - this.#askedMs < ASK_AGAIN_MS) return undefined;
    await this.#ask();
    return this.#matches(given) ? this.#generation : undefined;
  }

  /** Whether tokens of a generation are still accepted. */
  async isCurrent(generation: number): Promise<boolean> {
    await this.#ask();
    return generation === this.#generation;
  }

  #matches(given: string): boolean {
    const [left, right] = [Buffer.from(given), Buffer.from(adminToken(this.#vault, this.#generation))];
    return left.length === right.length && timingSafeEqual(left, right);
  }

  /** While the database is away, the last known generation counts: nobody can have revoked a token meanwhile. */
  async #ask(): Promise<void> {
    try {
      const installation = await loadInstallation(this.#pool);
      if (installation) this.#generation = installation.adminTokenGeneration;
    } catch (error) {
      if (!isDatabaseAway(error) || this.#askedMs === Number.NEGATIVE_INFINITY) throw error;
    }
    this.#askedMs = elapsedMs();
  }
}
