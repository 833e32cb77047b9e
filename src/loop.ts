import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "./errors.ts";
import type { Log } from "./log.ts";

export type Loop = { stop(): Promise<void> };

/**
 * Runs `turn` again and again until stopped. A turn says whether it found work: after "busy" the next one follows at
 * once, after "idle" it waits. A turn that throws is logged and tried again after a growing pause, so that one bad
 * minute of the database never ends a loop.
 */
export function startLoop(options: {
  name: string;
  log: Log;
  idleMs: number;
  failureMsMax?: number;
  turn: (signal: AbortSignal) => Promise<"busy" | "idle">;
}): Loop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const failureMsMax = options.failureMsMax ?? 5_000;

  const running = (async () => {
    let failures = 0;
    while (!signal.aborted) {
      let waitMs = 0;
      try {
        const outcome = await options.turn(signal);
        if (failures > 0) options.log.info({ loop: options.name, failures }, "The loop works again.");
        failures = 0;
        waitMs = outcome === "busy" ? 0 : options.idleMs;
      } catch (error) {
        if (signal.aborted) break;
        waitMs = Math.min(100 * 2 ** failures, failureMsMax);
        failures += 1;
        options.log.warn(
          { loop: options.name, failures, waitMs, reason: messageOf(error) },
          "A turn failed; trying again.",
        );
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
