const EACH = 100_000_000;
/** The steps that send bodies. Their events never repeat one another's: repeated events would not be stored. */
const SENDERS = [
  "intake 1",
  "intake 20",
  "intake 200",
  "intake 1, judged on all cores",
  "intake 20, judged on all cores",
  "intake 200, judged on all cores",
  "intake 1, all roles",
  "intake 20, all roles",
  "intake 200, all roles",
  "apply",
  "latency 1",
  "latency 20",
  "beside reports",
  "beside questions",
];

/** The number of a sender's first event. */
export function firstSequenceOf(sender: string): number {
  const index = SENDERS.indexOf(sender);
  if (index < 0) throw new Error(`${sender} is not a known sender.`);
  return index * EACH;
}
