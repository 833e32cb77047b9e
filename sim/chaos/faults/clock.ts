import type { Fault } from "../fault.ts";

const MINUTE_MS = 60_000;
/** Neither refuses what is sent now (an hour ahead at most), nor lets what happens now count as long past. */
const STEPS_MS = [-40 * MINUTE_MS, -5 * MINUTE_MS, 10 * MINUTE_MS, 26 * 60 * MINUTE_MS];
const EVENTS = 80;

const step: Fault = {
  name: "clock_step",
  what: "the clock of both processes is set ahead or back, and later right again",
  ...{ kind: "other", at: "embedded" },
  async inflict({ place, random }) {
    const aheadMs = random.pick(STEPS_MS);
    await place.setClock(aheadMs);
    await place.flows(EVENTS);
    // What is due by a clock that is ahead would be due late once it is right.
    if (aheadMs > 0) await place.drain();
  },
  mend: ({ place }) => place.setClock(0),
};

export const CLOCK_FAULTS: readonly Fault[] = [step];
