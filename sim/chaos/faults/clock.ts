import type { Fault } from "../fault.ts";
import type { Site } from "../site.ts";
import { until } from "../until.ts";

const MINUTE_MS = 60_000;
/** Steps small enough that current events are neither refused (an hour ahead at most) nor counted as long past. */
const STEPS_MS = [-40 * MINUTE_MS, -5 * MINUTE_MS, 10 * MINUTE_MS, 26 * 60 * MINUTE_MS];
const EVENTS = 80;

const step: Fault = {
  name: "clock_step",
  what: "the clock of both processes is set back 40 minutes, then 5, then ahead 10 minutes, then 26 hours, then right again",
  kind: "other",
  at: "embedded",
  async inflict({ site, random, form }) {
    for (const aheadMs of form === "short" ? [random.pick(STEPS_MS)] : STEPS_MS) {
      await site.setClock(aheadMs);
      await site.flows(EVENTS);
      if (aheadMs > 0) await drainAll(site);
    }
  },
  mend: ({ site }) => site.setClock(0),
};

/**
 * Drains before the clock is set right: Apple's late answers, which are due by a clock that is ahead, would be due late
 * afterwards. Postbacks would not: their sender looks for those that are put off too far.
 */
async function drainAll(site: Site): Promise<void> {
  await site.drain();
  await until("Apple has answered about the last token", () => site.isEmpty("asa_token where outcome = ''"));
  await site.drain();
}

export const CLOCK_FAULTS: readonly Fault[] = [step];
