import { MIB } from "../limits.ts";
import { type MeasuredEntry, writeEntry } from "./entry.ts";
import { sealRecord } from "./record.ts";

/** The bytes of one write. Assembling a longer one would delay the answers. */
const GROUP_BYTES = 8 * MIB;

/** A call that waits until its entry is durable. */
export type Waiting = {
  app: number;
  /** The bytes of the entry, its body unpacked. */
  plainBytes: number;
  recordBytes: number;
  resolve: (until: number) => void;
  reject: (error: Error) => void;
};

/**
 * The entries of one write, encoded one after the other into memory that the disk's thread shares. A buffer for each entry
 * and one for the write would be two more copies of everything that arrives, and large garbage.
 */
export class Group {
  readonly waiting: Waiting[] = [];
  readonly memory: Buffer;
  #used = 0;

  constructor(memory: Buffer) {
    this.memory = memory;
  }

  get bytes(): number {
    return this.#used;
  }

  get records(): Buffer {
    return this.memory.subarray(0, this.#used);
  }

  hasRoomFor({ recordBytes }: MeasuredEntry): boolean {
    return this.#used + recordBytes <= this.memory.length;
  }

  add(entry: MeasuredEntry, waiting: Waiting): void {
    const { recordBytes } = entry;
    writeEntry(entry, this.memory.subarray(this.#used, this.#used + recordBytes));
    this.#used += recordBytes;
    this.waiting.push(waiting);
  }

  /** Completes the records for their positions in the journal, of which `from` is the first. */
  complete(from: number): void {
    let at = 0;
    for (const { recordBytes } of this.waiting) {
      sealRecord(this.memory.subarray(at, at + recordBytes), from + at);
      at += recordBytes;
    }
  }
}

/** One group is written while the next one fills. Only a disk that falls behind needs more. */
const SHARED_GROUPS = 2;

/** The groups that wait for the disk. An entry joins the last one; one that is being written is no longer among them. */
export class Groups {
  readonly #waiting: Group[] = [];
  readonly #spare: Buffer[] = [];
  #shared = 0;

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  add(entry: MeasuredEntry, waiting: Waiting): void {
    let group = this.#waiting.at(-1);
    if (!group?.hasRoomFor(entry)) {
      group = new Group(this.#memoryFor(entry));
      this.#waiting.push(group);
    }
    group.add(entry, waiting);
  }

  /** The next group to write. */
  take(): Group | undefined {
    return this.#waiting.shift();
  }

  /** Takes back the memory of a group that nobody writes any more. */
  recycle({ memory }: Group): void {
    if (memory.buffer instanceof SharedArrayBuffer) this.#spare.push(memory);
  }

  /** Shared memory is not counted by the garbage collector, so there is a fixed amount; the rest is copied to the thread. */
  #memoryFor({ recordBytes }: MeasuredEntry): Buffer {
    if (recordBytes > GROUP_BYTES) return Buffer.allocUnsafeSlow(recordBytes);
    const spare = this.#spare.pop();
    if (spare) return spare;
    if (this.#shared === SHARED_GROUPS) return Buffer.allocUnsafeSlow(GROUP_BYTES);
    this.#shared += 1;
    return Buffer.from(new SharedArrayBuffer(GROUP_BYTES));
  }
}
