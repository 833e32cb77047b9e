import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeDurably } from "./segment.ts";

/**
 * Where the entries begin that were accepted without the database. If the journal is an older copy, the cursor has passed
 * their positions, which shows only when the database is back. A file keeps it, so that a crash until then forgets nothing.
 */
export class Unconfirmed {
  readonly #dir: string;
  readonly #path: string;

  constructor(dir: string) {
    this.#dir = dir;
    this.#path = join(dir, "unconfirmed");
  }

  /** Keeps the earliest position: an earlier start may have accepted entries as well. */
  async begin(position: number): Promise<void> {
    if ((await this.from()) === undefined) await writeDurably(this.#path, `${position}\n`);
  }

  async from(): Promise<number | undefined> {
    const text = await readFile(this.#path, "utf8").catch(() => "");
    return text === "" ? undefined : Number(text);
  }

  async end(): Promise<void> {
    await rm(this.#path, { force: true });
    await syncFolder(this.#dir);
  }
}
