const EACH = 100_000_000;
/** The steps that send bodies. Their events never repeat one another's: repeated events would not be stored. */
const SENDERS = [
  "intake 1",
  "intake 20",
  "intake 200",
  "intake 1, judged on the main thread",
  "intake 20, judged on the main thread",
  "intake 200, judged on the main thread",
  "intake 1, all roles",
  "intake 20, all roles",
  "intake 200, all roles",
  "apply",
  "latency 1",
  "latency 20",
  "beside reports",
  "beside questions",
] as const;
export type Sender = (typeof SENDERS)[number];

/** The number of a sender's first event. */
export function firstSequenceOf(sender: Sender): number {
  return SENDERS.indexOf(sender) * EACH;
}
