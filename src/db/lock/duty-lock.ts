import type pg from "pg";
import { elapsedMs } from "../../clock.ts";
import type { Log } from "../../log.ts";
import { canAnswer } from "../engine/pool.ts";
import type { Server } from "../server/server.ts";
import { openLockSession } from "./lock-session.ts";
import { DUTIES, type Duty, dutyNameOf, endSilentDuty, tryDuty } from "./partition-locks.ts";

const CHECK_MS = 1_000;

export type DutyLockOptions = { duty: Duty; server: Server; nodeId: string; log: Log };

/**
 * A duty, which one process has at a time. For sending postbacks: rates and breakers would otherwise hold for each process
 * alone. It passes on when its process dies or falls silent.
 */
export class DutyLock {
  readonly #options: DutyLockOptions;
  #client: pg.Client | undefined;
  #isHeld = false;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: DutyLockOptions) {
    this.#options = options;
  }

  /** Whether this process has the duty, as of the last second. */
  async isOurs(): Promise<boolean> {
    if (elapsedMs() - this.#checkedAtMs < CHECK_MS) return this.#isHeld;
    this.#checkedAtMs = elapsedMs();
    if (this.#isHeld && !(await canAnswer(this.#client!))) await this.release();
    if (!this.#isHeld) await this.#try();
    return this.#isHeld;
  }

  async release(): Promise<void> {
    const client = this.#client;
    this.#lose(client);
    await client?.end().catch(() => {});
  }

  async #try(): Promise<void> {
    const { duty, server, nodeId, log } = this.#options;
    this.#client ??= await openLockSession(server, {
      name: dutyNameOf(duty, nodeId),
      onEnd: (ended) => this.#lose(ended),
    });
    try {
      this.#isHeld = await tryDuty(this.#client, duty);
      if (this.#isHeld) log.info(DUTIES[duty].says);
      else await endSilentDuty(this.#client, duty);
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  #lose(client: pg.Client | undefined): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    this.#isHeld = false;
  }
}
