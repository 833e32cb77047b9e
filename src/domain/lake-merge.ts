/** A file as far as merging it matters. */
type Part = { rows: number; writtenAtMs: number };

/** So many files of about the same size become one: each row is written again once for every such step. */
const ALIKE_MIN = 8;
/** Files are grouped by the power of this that their number of rows reaches. */
const GROWTH = 8;
/** A merge takes memory and time by its rows; larger files are read as fast as one. */
const ROWS_MAX = 4_000_000;
/** A day gets its last form when nothing has come for so long. */
const QUIET_MS = 3_600_000;

/**
 * The files of a day that are to become one, smallest first, or none. Parts that come every few seconds are merged as soon
 * as there are enough of one size. `isOver`: the day has ended, and its files become as few as they can.
 */
export function filesToMerge<T extends Part>(files: readonly T[], { isOver, nowMs }: MergeTime): T[] {
  const small = files.filter(({ rows }) => rows < ROWS_MAX).sort((one, other) => one.rows - other.rows);
  const isQuiet = files.every(({ writtenAtMs }) => nowMs - writtenAtMs >= QUIET_MS);
  if (isOver && isQuiet) return severalWithin(small);
  for (let from = 0; from < small.length; ) {
    const size = sizeOf(small[from]!);
    const alike = small.slice(from).filter((file) => sizeOf(file) === size);
    // Smaller files go along: they would otherwise stay when none of their size come any more.
    if (alike.length >= ALIKE_MIN) return severalWithin(small.slice(0, from + alike.length));
    from += alike.length;
  }
  return [];
}

export type MergeTime = { isOver: boolean; nowMs: number };

function sizeOf({ rows }: Part): number {
  return Math.floor(Math.log(Math.max(rows, 1)) / Math.log(GROWTH));
}

/** As many as fit into one, or none if that is a single file. */
function severalWithin<T extends Part>(files: readonly T[]): T[] {
  let rows = 0;
  const taken = files.filter((file) => {
    rows += file.rows;
    return rows <= ROWS_MAX;
  });
  return taken.length > 1 ? taken : [];
}
