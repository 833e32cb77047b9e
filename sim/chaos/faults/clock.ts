import type { Fault } from "../fault.ts";
import type { Place } from "../place.ts";
import { until } from "../until.ts";

const MINUTE_MS = 60_000;
/** Neither refuses what is sent now (an hour ahead at most), nor lets what happens now count as long past. */
const STEPS_MS = [-40 * MINUTE_MS, -5 * MINUTE_MS, 10 * MINUTE_MS, 26 * 60 * MINUTE_MS];
const EVENTS = 80;

const step: Fault = {
  name: "clock_step",
  what: "the clock of both processes is set back 40 minutes, then 5, then ahead 10 minutes, then 26 hours, then right again",
  kind: "other",
  at: "embedded",
  async inflict({ place, random, form }) {
    for (const aheadMs of form === "short" ? [random.pick(STEPS_MS)] : STEPS_MS) {
      await place.setClock(aheadMs);
      await place.flows(EVENTS);
      if (aheadMs > 0) await drainAll(place);
    }
  },
  mend: ({ place }) => place.setClock(0),
};

/** What is due by a clock that is ahead would be due late once it is right; and what Apple answers late is due then. */
async function drainAll(place: Place): Promise<void> {
  await place.drain();
  await until("Apple has answered about the last token", () => place.isEmpty("asa_token where outcome = ''"));
  await place.drain();
}

export const CLOCK_FAULTS: readonly Fault[] = [step];
