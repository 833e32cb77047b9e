/** Enough that the count is exact while apply keeps up, and close when it is hours behind. */
const MARKS_MAX = 4_096;

/** How many entries wait to be applied, by what each flush has written and how far apply has come. */
export class JournalDepth {
  readonly #recovered: number;
  #applied: number;
  #marks: { until: number; entries: number }[] = [];

  /** What another process has written before `recovered` is not counted. */
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

  /** A flush that is applied in part counts whole. Undefined: what an earlier process has left is still waiting. */
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
