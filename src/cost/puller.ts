import type pg from "pg";
import type { Clock } from "../clock.ts";
import { loadCostAccounts } from "../db/cost-pull.ts";
import type { AccountKey } from "../db/platform-account.ts";
import { dueDays, firstScheduledDay } from "../domain/cost-schedule.ts";
import { callable } from "../domain/network.ts";
import { messageOf } from "../errors.ts";
import { LIMITS, MIB } from "../limits.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { Sender } from "../outbound/sender.ts";
import type { Vault } from "../vault.ts";
import { type AccountPull, type PullPlan, pullAccount, TAKEN } from "./account-pull.ts";
import { scheduleOf } from "./account-reach.ts";
import type { CrawlDeps } from "./cost-crawl.ts";
import { Slots } from "./slots.ts";

/** How long a platform may take to answer. */
const DEADLINE_MS = 30_000;
const REPLY_BYTES_MAX = 16 * MIB;

export type PullerOptions = {
  /** Has twice as many connections as accounts at once: one holds the account's lock, one renews a token. */
  pool: pg.Pool;
  vault: Vault;
  log: Log;
  clock: Clock;
  /** Whether addresses of private networks may be called. */
  mayCallPrivate: boolean;
  accountsAtOnce?: number;
  deadlineMs?: number;
  waitsMs?: readonly number[];
  reportWaitsMs?: readonly number[];
};

export type AskedPullOptions = { onDays?: (done: number, total: number) => void; signal?: AbortSignal };

const IDLE_MS = 30_000;
/** Waits before a retry. The last one is the time span over which platforms count calls. */
const WAITS_MS = [1_000, 10_000, 60_000];
/** Waits for a report that takes the platform a while: at first short ones, then half an hour in all. */
const REPORT_WAITS_MS = [2_000, 5_000, 10_000, 20_000, ...Array.from({ length: 58 }, () => 30_000)];

/** Pulls costs by schedule and on request. Several processes can do so at the same time. */
export class CostPuller {
  readonly #options: PullerOptions;
  readonly #deps: CrawlDeps;
  readonly #slots: Slots;
  readonly #stopping = new AbortController();
  /** Scheduled pulls that wait for a slot or have one, by account. */
  readonly #scheduled = new Map<string, Promise<void>>();

  constructor(options: PullerOptions) {
    const { pool, vault, clock, deadlineMs = DEADLINE_MS } = options;
    const { waitsMs = WAITS_MS, reportWaitsMs = REPORT_WAITS_MS } = options;
    const accountsAtOnce = options.accountsAtOnce ?? LIMITS.costPullsAtOnce;
    this.#options = options;
    this.#slots = new Slots(accountsAtOnce);
    const limits = { deadlineMs, connectionsMax: accountsAtOnce, replyBytesMax: REPLY_BYTES_MAX };
    const sender = new Sender({ ...limits, mayCall: callable(options) });
    this.#deps = { pool, vault, clock, waitsMs, reportWaitsMs, sender };
  }

  /** Starts the loop that pulls what is due. */
  start(): Loop {
    return startLoop({ name: "cost", log: this.#options.log, idleMs: IDLE_MS, turn: () => this.turn() });
  }

  /** Starts the pulls that are due. Returns at once: an account takes as long as its platform. */
  async turn(): Promise<"idle"> {
    const { pool, clock } = this.#options;
    const nowMs = clock();
    for (const account of await loadCostAccounts(pool, { fromDay: firstScheduledDay(nowMs) })) {
      const name = `${account.appId} ${account.adPlatform} ${account.advertiserId}`;
      const now = scheduleOf(account, nowMs);
      if (this.#scheduled.has(name) || dueDays(account.state, now).length === 0) continue;
      const pulling = this.#slots.run("last", () => this.#pullDue(account)).finally(() => this.#scheduled.delete(name));
      this.#scheduled.set(name, pulling);
    }
    return "idle";
  }

  /** Waits until all scheduled pulls have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#scheduled.values());
  }

  /**
   * Pulls on request, whatever the schedule says. `onDays` receives the number of finished days and of all days.
   * `signal` ends the pull early; stored days stay.
   */
  async pull(
    accounts: readonly AccountKey[],
    plan: Exclude<PullPlan, { kind: "due" }>,
    { onDays = () => {}, signal: asked }: AskedPullOptions = {},
  ): Promise<AccountPull[]> {
    const signal = asked ? AbortSignal.any([this.#stopping.signal, asked]) : this.#stopping.signal;
    const isStopped = () => asked?.aborted === true && !this.#stopping.signal.aborted;
    const parts = accounts.map(() => ({ done: 0, total: 1 }));
    return Promise.all(
      accounts.map(async (account, at) => {
        const show = (done: number, total: number) => {
          parts[at] = { done, total };
          onDays(
            parts.reduce((sum, part) => sum + part.done, 0),
            parts.reduce((sum, part) => sum + part.total, 0),
          );
        };
        const pulled = await this.#slots.run("first", () =>
          pullAccount(this.#deps, account, plan, { signal, isStopped, onDays: show }),
        );
        show(parts[at]!.total, parts[at]!.total);
        return pulled;
      }),
    );
  }

  /** Stops asking the platforms. */
  abort(): void {
    this.#stopping.abort(new Error("Pulling is being stopped."));
  }

  /** Ends all pulls, which have stored whole days only. */
  async stop(): Promise<void> {
    this.abort();
    await this.settled();
    this.#deps.sender.close();
  }

  async #pullDue(account: AccountKey): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted) return;
    const { appId, adPlatform, advertiserId } = account;
    const told = { app: appId, platform: adPlatform, advertiser: advertiserId };
    try {
      const { error, days } = await pullAccount(this.#deps, account, { kind: "due" }, { signal });
      if (error === "" || error === TAKEN)
        this.#options.log.debug({ ...told, days }, "Pulled the costs that were due.");
      else this.#options.log.warn({ ...told, reason: error }, "Could not pull all costs that were due.");
    } catch (error) {
      if (!signal.aborted) this.#options.log.warn({ ...told, reason: messageOf(error) }, "Could not pull costs.");
    }
  }
}
