/** A source of the time. Only this file reads the system clock; all other code gets a time or a Clock. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** A clock for durations, which never steps back when the wall clock is set. */
export const elapsedMs: Clock = () => performance.now();
