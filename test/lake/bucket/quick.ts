/** Limits of calls to a stand-in on this machine: no test waits between attempts. */
export const QUICK = { connectMs: 60_000, silentMs: 60_000, callMs: 300_000, bytesPerMs: 50, againMs: 1 };
