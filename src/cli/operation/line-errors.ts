import { type FileHandle, open } from "node:fs/promises";
import type { TakenHistoryAnswer } from "../../contract/admin/history.ts";
import { messageOf, UsageError } from "../../errors.ts";

type LineError = TakenHistoryAnswer["errors"][number];

const SHOWN_MAX = 20;

/** The lines that were not stored as they stand: the first ones for the terminal, all of them for a file. */
export class LineErrors {
  readonly #file: FileHandle | undefined;
  readonly #first: LineError[] = [];
  readonly #reasons = new Map<string, number>();
  #count = 0;

  private constructor(file: FileHandle | undefined) {
    this.#file = file;
  }

  static async open(path: string | undefined): Promise<LineErrors> {
    const unwritable = (error: unknown): never => {
      throw new UsageError(`${path} cannot be written: ${messageOf(error)}.`);
    };
    return new LineErrors(path === undefined ? undefined : await open(path, "w").catch(unwritable));
  }

  async add(errors: readonly LineError[]): Promise<void> {
    for (const error of errors) {
      this.#reasons.set(error.reason, (this.#reasons.get(error.reason) ?? 0) + 1);
      if (this.#first.length < SHOWN_MAX) this.#first.push(error);
    }
    this.#count += errors.length;
    if (errors.length > 0) await this.#file?.write(errors.map((error) => `${JSON.stringify(error)}\n`).join(""));
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  /** Lines by reason. */
  reasons(): Record<string, number> {
    return Object.fromEntries(this.#reasons);
  }

  /** The first ones, each with its line, and how to see the others. */
  told(): string[] {
    const first = this.#first.toSorted((one, other) => one.line - other.line);
    const told = first.map(({ line, reason, message }) => `Line ${line}: ${reason}: ${message}`);
    const more = this.#count - this.#first.length;
    if (more > 0) told.push(`… and ${more} more${this.#file ? "" : "; --errors FILE writes all of them to a file"}.`);
    return told;
  }
}
