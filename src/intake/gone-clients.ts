import type pg from "pg";
import { canAnswer } from "../db/engine/pool.ts";
import { goneClientOf, listenForGone } from "../db/gone-client.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { within } from "../within.ts";
import type { KnownClients } from "./known-clients.ts";

const CHECK_MS = 1_000;
const ANSWER_MS_MAX = 5_000;

export type GoneClientsOptions = {
  /** Where a connection can listen for notifications. */
  sessionPool: pg.Pool;
  log: Log;
  known: () => Pick<KnownClients, "forget" | "forgetAll">;
};

/**
 * Forgets clients that were renamed or erased by way of other processes. Notifications are lost while nobody listens, so
 * everything is forgotten whenever listening begins.
 */
export class GoneClients {
  readonly #options: GoneClientsOptions;
  #listener: pg.PoolClient | undefined;
  #whenGone: (client: UserKey) => void = () => {};
  #loop: Loop | undefined;

  constructor(options: GoneClientsOptions) {
    this.#options = options;
  }

  whenGone(gone: (client: UserKey) => void): void {
    this.#whenGone = gone;
  }

  start(): void {
    this.#loop = startLoop({
      name: "gone clients",
      log: this.#options.log,
      idleMs: CHECK_MS,
      failureMsMax: CHECK_MS,
      turn: async () => {
        if (!(await this.#isListening())) await this.#listen();
        return "idle";
      },
    });
  }

  async stop(): Promise<void> {
    await this.#loop?.stop();
    this.#leave();
  }

  async #isListening(): Promise<boolean> {
    if (!this.#listener) return false;
    return within(ANSWER_MS_MAX, canAnswer(this.#listener)).catch(() => false);
  }

  async #listen(): Promise<void> {
    this.#leave();
    const { sessionPool, known } = this.#options;
    const client = await sessionPool.connect();
    this.#listener = client;
    client.on("error", () => {});
    client.on("notification", (notification) => {
      const gone = goneClientOf(notification);
      if (!gone) return;
      known().forget(gone.appId, gone.clientId);
      this.#whenGone(gone);
    });
    try {
      await within(ANSWER_MS_MAX, listenForGone(client));
    } catch (error) {
      this.#leave();
      throw error;
    }
    known().forgetAll();
  }

  #leave(): void {
    this.#listener?.release(true);
    this.#listener = undefined;
  }
}
