/** The only place that reads the system clock. Everything else is handed a time or a Clock. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** For durations: never steps back when the wall clock is set. */
export const elapsedMs: Clock = () => performance.now();
