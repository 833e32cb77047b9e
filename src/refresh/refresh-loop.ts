import type pg from "pg";
import { elapsedMs } from "../clock.ts";
import { IntakePace } from "../intake/pace.ts";
import { MIB } from "../limits.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { refreshOnce } from "./refresh.ts";

const IDLE_MS = 500;
/** About how long a turn counts slices; the next turn starts with the newest ones again. */
const TURN_MS = 1_000;
/** Slices that are counted at the same time while there is little traffic. */
const SLICES_AT_ONCE = 2;
/** The rest after a turn, as a multiple of its length. Under heavy traffic the cores belong to collection and apply. */
const RESTS = { quiet: 0.5, busy: 4 };

/**
 * How often pulled revenue is spread again because of late ads. Each time changes the shares of all users of an ad unit
 * and day, so that a trickle of late ads must not do so with every batch.
 */
const SPREAD_EVERY_MS = 10 * 60_000;

/** While more than this waits for apply, as during an import, it will soon mark again what is counted now. */
const BEHIND_BYTES = 1 * MIB;

export type RefreshLoopOptions = { pool: pg.Pool; log: Log; writtenBytes: () => number; backlogBytes: () => number };

/** Keeps the cube up to date with what apply has marked. */
export function startRefresh({ pool, log, writtenBytes, backlogBytes }: RefreshLoopOptions): Loop {
  const pace = new IntakePace(writtenBytes);
  let restUntilMs = 0;
  let spreadAtMs = 0;
  const turn = async (signal: AbortSignal) => {
    const startedMs = elapsedMs();
    if (startedMs < restUntilMs) return "idle" as const;
    const isBusy = pace.isBusy() || backlogBytes() > BEHIND_BYTES;
    const isSpread = startedMs >= spreadAtMs;
    const atOnce = isBusy ? 1 : SLICES_AT_ONCE;
    const counted = await refreshOnce(pool, { signal, forMs: TURN_MS, atOnce, adChanges: isSpread ? "all" : "rare" });
    if (isSpread) spreadAtMs = startedMs + SPREAD_EVERY_MS;
    if (counted === 0) return "idle" as const;
    const nowMs = elapsedMs();
    restUntilMs = nowMs + (nowMs - startedMs) * (isBusy ? RESTS.busy : RESTS.quiet);
    return "idle" as const;
  };
  return startLoop({ name: "refresh", log, idleMs: IDLE_MS, turn });
}
