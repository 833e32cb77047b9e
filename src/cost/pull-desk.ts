import type { Clock } from "../clock.ts";
import type { AccountKey } from "../db/platform-account.ts";
import { ApiError, messageOf } from "../errors.ts";
import type { AccountPull, PullPlan } from "./account-pull.ts";
import type { CostPuller } from "./puller.ts";

/** A requested pull: its progress and its result. */
export type AskedPull = {
  state: "running" | "done" | "stopped" | "failed";
  startedAtMs: number;
  endedAtMs: number | null;
  days: { done: number; total: number };
  accounts: readonly AccountPull[];
  /** Why the whole pull failed. */
  error: string;
};

type Begun = { accounts: readonly AccountKey[]; plan: Exclude<PullPlan, { kind: "due" }> };

type Running = AskedPull & { stopping: AbortController };

/** Requested pulls, one at a time for each app. They go on even if the caller leaves. */
export class PullDesk {
  readonly #puller: CostPuller;
  readonly #clock: Clock;
  /** The last pull of each app. */
  readonly #pulls = new Map<number, Running>();

  constructor(puller: CostPuller, clock: Clock) {
    this.#puller = puller;
    this.#clock = clock;
  }

  /** Pulls what `begin` resolves to, unless it refuses. `ended` resolves to the result. */
  async start(appId: number, begin: () => Promise<Begun>): Promise<{ pull: AskedPull; ended: Promise<AskedPull> }> {
    const last = this.#pulls.get(appId);
    if (last?.state === "running") {
      throw new ApiError("overloaded", "Costs of this app are already being pulled; try again later.", {
        retryAfterS: 10,
      });
    }
    const pull: Running = {
      state: "running",
      startedAtMs: this.#clock(),
      endedAtMs: null,
      days: { done: 0, total: 0 },
      accounts: [],
      error: "",
      stopping: new AbortController(),
    };
    // Before `begin`, so that no other pull of this app begins meanwhile.
    this.#pulls.set(appId, pull);
    try {
      const { accounts, plan } = await begin();
      pull.days = { done: 0, total: accounts.length };
      return { pull, ended: this.#run(pull, accounts, plan) };
    } catch (error) {
      if (last) this.#pulls.set(appId, last);
      else this.#pulls.delete(appId);
      throw error;
    }
  }

  of(appId: number): AskedPull | undefined {
    return this.#pulls.get(appId);
  }

  /** Stops a pull; stored days stay, because a day is stored whole. Returns false when nothing is being pulled. */
  stop(appId: number): boolean {
    const pull = this.#pulls.get(appId);
    if (pull?.state !== "running") return false;
    pull.stopping.abort();
    return true;
  }

  async #run(pull: Running, accounts: Begun["accounts"], plan: Begun["plan"]): Promise<AskedPull> {
    const { signal } = pull.stopping;
    const onDays = (done: number, total: number) => {
      pull.days = { done, total };
    };
    try {
      pull.accounts = await this.#puller.pull(accounts, plan, { onDays, signal });
      pull.state = signal.aborted ? "stopped" : "done";
    } catch (error) {
      pull.state = "failed";
      pull.error = messageOf(error);
      throw error;
    } finally {
      pull.endedAtMs = this.#clock();
    }
    return pull;
  }
}
