const EACH = 100_000_000;
/** Whoever sends bodies. Those of one never repeat those of another: repeated events would not be stored. */
const SENDERS = ["intake 1", "intake 20", "intake 200", "apply", "latency", "beside reports"];

/** The number of the first event of a sender. */
export function firstSequenceOf(sender: string): number {
  const index = SENDERS.indexOf(sender);
  if (index < 0) throw new Error(`${sender} has no numbers.`);
  return index * EACH;
}
