import type pg from "pg";
import { elapsedMs } from "../clock.ts";
import { refreshStatistics } from "../db/statistics.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";

/** New users of an app that make the planner's statistics too old the first time; then four times as many, and so on. */
const NEW_USERS_FIRST = 500;
const TIMES_MORE = 4;
/** Refreshing takes at most this part of the time, whatever the number of apps. */
const SHARE_MAX = 0.05;

/**
 * Has the planner's statistics refreshed while apps grow fast. The database itself does so at most once a minute, and only
 * when a tenth of a table has changed; until then it takes the tables of a new installation, or of a new app beside a
 * large one, for nearly empty, and plans accordingly.
 */
export class AppGrowth {
  readonly #pool: pg.Pool;
  readonly #log: Pick<Log, "warn">;
  readonly #newUsers = new Map<number, { users: number; due: number }>();
  #isDue = false;
  #notBeforeMs = 0;

  constructor({ pool, log }: { pool: pg.Pool; log: Pick<Log, "warn"> }) {
    this.#pool = pool;
    this.#log = log;
  }

  /** Takes the numbers of new users by app, once these are committed. */
  add(newUsers: ReadonlyMap<number, number>): void {
    for (const [appId, users] of newUsers) {
      const growth = this.#newUsers.get(appId) ?? { users: 0, due: NEW_USERS_FIRST };
      this.#newUsers.set(appId, growth);
      growth.users += users;
      for (; growth.users >= growth.due; growth.due *= TIMES_MORE) this.#isDue = true;
    }
  }

  /** Refreshes the statistics if they are too old. A failure only leaves them as they are. */
  async refresh(): Promise<void> {
    const startedMs = elapsedMs();
    if (!this.#isDue || startedMs < this.#notBeforeMs) return;
    this.#isDue = false;
    await refreshStatistics(this.#pool).catch((error) =>
      this.#log.warn({ reason: messageOf(error) }, "The planner's statistics could not be refreshed."),
    );
    const endedMs = elapsedMs();
    this.#notBeforeMs = endedMs + (endedMs - startedMs) / SHARE_MAX;
  }
}
