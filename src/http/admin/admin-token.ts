import { timingSafeEqual } from "node:crypto";
import type pg from "pg";
import { elapsedMs } from "../../clock.ts";
import { isDatabaseAway } from "../../db/engine/failure.ts";
import { loadInstallation } from "../../db/installation.ts";
import type { Vault } from "../../vault.ts";

/** Wrong tokens make us ask for the generation so often at most: it may have been raised. */
const ASK_AGAIN_MS = 1_000;

/**
 * The token of the admin interface, made from the installation's key and a generation. Raising the generation revokes
 * every token handed out before. The first generation's is the one that earlier versions printed.
 */
export function adminToken(vault: Vault, generation = 0): string {
  return vault.keyFor(generation === 0 ? "admin-token" : `admin-token ${generation}`).toString("hex");
}

/** Judges admin tokens by the generation that counts now. */
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
   * A token that was right a moment ago is only right if the database still says so: a revoked one is refused at once. A
   * wrong one costs the database nothing, unless nobody has asked for a while.
   */
  async isRight(given: string): Promise<boolean> {
    const wasRight = this.#matches(given);
    if (!wasRight && elapsedMs() - this.#askedMs < ASK_AGAIN_MS) return false;
    await this.#ask();
    return this.#matches(given);
  }

  #matches(given: string): boolean {
    const [left, right] = [Buffer.from(given), Buffer.from(adminToken(this.#vault, this.#generation))];
    return left.length === right.length && timingSafeEqual(left, right);
  }

  /** While the database is away, what it said last counts: nobody can have revoked a token meanwhile. */
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
