import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "./errors.ts";
import type { Log } from "./log.ts";

export type Loop = { stop(): Promise<void> };

/** The failure of a loop's last turn, or undefined once a turn has succeeded again. */
export type Trouble = { failure: unknown; waitMs: number } | undefined;

/**
 * Runs `turn` again and again until stopped. A turn says whether it found work: after "busy" the next one follows at
 * once, after "idle" the loop waits. A turn that throws is retried after a growing pause, so that a database outage
 * never ends a loop. Trouble is reported when it begins, when its reason changes and when it ends, not with every turn.
 * It is logged unless `onTrouble` is given.
 */
export function startLoop(options: {
  name: string;
  log: Log;
  idleMs: number;
  failureMsMax?: number;
  onTrouble?: (trouble: Trouble) => void;
  turn: (signal: AbortSignal) => Promise<"busy" | "idle">;
}): Loop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const failureMsMax = options.failureMsMax ?? 5_000;
  const tell = options.onTrouble ?? ((trouble) => logTrouble(options, trouble));

  const running = (async () => {
    let failures = 0;
    let told = "";
    while (!signal.aborted) {
      let waitMs = 0;
      try {
        const outcome = await options.turn(signal);
        if (failures > 0) tell(undefined);
        failures = 0;
        told = "";
        waitMs = outcome === "busy" ? 0 : options.idleMs;
      } catch (error) {
        if (signal.aborted) break;
        waitMs = Math.min(100 * 2 ** failures, failureMsMax);
        failures += 1;
        if (messageOf(error) !== told) tell({ failure: error, waitMs });
        told = messageOf(error);
      }
      if (waitMs > 0) await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  })();

  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

function logTrouble({ name: loop, log }: { name: string; log: Log }, trouble: Trouble): void {
  if (!trouble) log.info({ loop }, "The loop works again.");
  else log.warn({ loop, waitMs: trouble.waitMs, reason: messageOf(trouble.failure) }, "A turn failed; trying again.");
}
