/** Enough marks for an exact count while apply keeps up, and a close one when it is hours behind. */
const MARKS_MAX = 4_096;

/** The number of entries of a partition that wait to be applied, computed from the flushes and apply's position. */
export class JournalDepth {
  readonly #recovered: number;
  #applied: number;
  #marks: { until: number; entries: number }[] = [];

  /** Entries before `recovered`, which an earlier process has written, are not counted. */
  constructor({ applied, recovered }: { applied: number; recovered: number }) {
    this.#applied = applied;
    this.#recovered = recovered;
  }

  written(until: number, entries: number): void {
    this.#marks.push({ until, entries });
    if (this.#marks.length > MARKS_MAX) this.#marks = pairs(this.#marks);
  }

  applied(position: number): void {
    this.#applied = position;
    const first = this.#marks.findIndex(({ until }) => until > position);
    this.#marks.splice(0, first < 0 ? this.#marks.length : first);
  }

  /** The number of waiting entries, a partly applied flush whole. Undefined while an earlier process's entries wait. */
  get entries(): number | undefined {
    if (this.#applied < this.#recovered) return undefined;
    return this.#marks.reduce((sum, { entries }) => sum + entries, 0);
  }
}

function pairs(marks: readonly { until: number; entries: number }[]) {
  return marks.flatMap((mark, index) => {
    const before = marks[index - 1];
    if (index % 2 === 0) return index === marks.length - 1 ? [mark] : [];
    return [{ until: mark.until, entries: mark.entries + before!.entries }];
  });
}
