const [QUOTE, LINE_FEED] = [0x22, 0x0a];

/** Counts the rows of a CSV file as it arrives: a line break between quotes is part of a value. */
export class CsvRows {
  #lines = 0;
  #isQuoted = false;

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      else if (byte === LINE_FEED && !this.#isQuoted) this.#lines += 1;
    }
  }

  /** The number of rows, without the header. */
  get count(): number {
    return Math.max(0, this.#lines - 1);
  }
}
