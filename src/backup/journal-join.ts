/** A segment of a journal: bytes from a position on. */
export type Stretch = { from: number; bytes: number };

export type JournalJoin<Saved> =
  /** The segments of the backup to put beside, or in place of, those that are there. */
  | { kind: "joined"; taken: Saved[] }
  /** Nothing holds the bytes in between. */
  | { kind: "gap"; from: number; until: number };

/**
 * How a journal that is already there and the backup's copy of the same journal become one. What is there has gone on
 * since, so it counts; the backup adds what has been deleted there.
 *
 *   backup     ├────┼────┼──┤            cursor somewhere in the first
 *   there           ├────┼────┼────┤
 *   together   ├────┼────┼────┼────┤
 */
export function joinJournals<Saved extends Stretch>(
  own: readonly Stretch[],
  saved: readonly Saved[],
  cursor: number,
): JournalJoin<Saved> {
  const [first] = own;
  const last = own.at(-1);
  const savedUntil = saved.reduce((until, { from, bytes }) => Math.max(until, from + bytes), 0);
  if (first && first.from > Math.max(cursor, savedUntil))
    return { kind: "gap", from: Math.max(cursor, savedUntil), until: first.from };
  const taken = saved.filter((segment) => {
    const same = own.find(({ from }) => from === segment.from);
    // Only the last segment grows: an earlier one that is shorter was cut after a failed write.
    if (same) return same === last && same.bytes < segment.bytes;
    return !own.some(({ from, bytes }) => from < segment.from && segment.from < from + bytes);
  });
  return { kind: "joined", taken };
}
