import type { Duplex } from "node:stream";
import type pg from "pg";
import { MIB } from "../../limits.ts";

const PIECE_BYTES = MIB;
/** How many pieces may wait for whoever takes them, before the database has to. */
const PIECES_WAITING = 2;

/** A message begins with its kind and its length, without the kind. */
const HEAD_BYTES = 5;
const ROW = 0x64; // d
/**
 * Kinds of messages that come before the last row: the beginning of the rows, the rows, notices, changed parameters, and
 * notifications, for which nobody listens on such a connection.
 */
const BEFORE_THE_END: ReadonlySet<number> = new Set([0x48, ROW, 0x4e, 0x53, 0x41]);

type Wire = { stream: Duplex; query: (text: string) => void };
type Listener = (chunk: Buffer) => void;

/**
 * The rows of `COPY … TO STDOUT`, in pieces of about a mebibyte:
 *
 *   for await (const piece of tx.query(new CopyOut("copy event to stdout"))) …
 *
 * The database sends each row as a message of its own. A stream that makes something of each of them takes half as long again
 * as the database needs for its row; here, rows are only moved together. Until the last one they are read here, without the
 * client, which then gets its connection back.
 */
export class CopyOut implements pg.Submittable, AsyncIterable<Buffer> {
  /** Known at the end. */
  rowCount = 0;
  readonly #text: string;
  #wire: Wire | undefined;
  #listener: Listener | undefined;
  readonly #onData: Listener = (chunk) => this.#take(chunk);

  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  /** What is left of the message that is being read. */
  #left = 0;
  #isRow = false;

  readonly #waiting: Buffer[] = [];
  #piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #filled = 0;
  #end: { failure?: Error } | undefined;
  #wake = () => {};

  constructor(text: string) {
    this.#text = text;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = this.#waiting.shift();
      if (piece) {
        if (this.#listener) this.#wire!.stream.resume();
        yield piece;
      } else if (this.#end) {
        if (this.#end.failure) throw this.#end.failure;
        return;
      } else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** The client calls it when the connection is free, and those below as answers come. */
  submit(connection: pg.Connection): void {
    const wire = connection as unknown as Wire;
    const [listener, ...others] = wire.stream.listeners("data") as Listener[];
    if (!listener || others.length > 0) throw new Error("The connection is not read by its client alone.");
    this.#wire = wire;
    this.#listener = listener;
    wire.stream.off("data", listener);
    wire.stream.on("data", this.#onData);
    wire.query(this.#text);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.rowCount = Number(/\d+$/.exec(text)?.[0] ?? 0);
  }

  handleReadyForQuery(): void {
    if (this.#filled > 0) this.#waiting.push(this.#piece.subarray(0, this.#filled));
    this.#finish({});
  }

  handleError(failure: Error): void {
    this.#giveBack();
    this.#finish({ failure });
  }

  #finish(end: { failure?: Error }): void {
    this.#end ??= end;
    this.#wake();
  }

  /** Moves the rows of a chunk together at its beginning. */
  #take(chunk: Buffer): void {
    let [at, rowBytes] = [0, 0];
    while (at < chunk.length) {
      if (this.#left > 0) {
        const bytes = Math.min(this.#left, chunk.length - at);
        if (this.#isRow) {
          chunk.copyWithin(rowBytes, at, at + bytes);
          rowBytes += bytes;
        }
        at += bytes;
        this.#left -= bytes;
        continue;
      }
      if (this.#headBytes === 0 && !BEFORE_THE_END.has(chunk[at]!)) {
        this.#put(chunk, rowBytes);
        this.#giveBack(chunk.subarray(at));
        return;
      }
      at = this.#takeHead(chunk, at);
    }
    this.#put(chunk, rowBytes);
    if (this.#waiting.length >= PIECES_WAITING) this.#wire!.stream.pause();
  }

  /** Returns where the chunk goes on. */
  #takeHead(chunk: Buffer, from: number): number {
    let at = from;
    while (this.#headBytes < HEAD_BYTES && at < chunk.length) {
      this.#head[this.#headBytes] = chunk[at]!;
      this.#headBytes += 1;
      at += 1;
    }
    if (this.#headBytes === HEAD_BYTES) {
      this.#headBytes = 0;
      this.#isRow = this.#head[0] === ROW;
      this.#left = this.#head.readUInt32BE(1) + 1 - HEAD_BYTES;
    }
    return at;
  }

  /** Puts the first bytes of a chunk into pieces. */
  #put(chunk: Buffer, bytes: number): void {
    let at = 0;
    while (at < bytes) {
      const moved = chunk.copy(this.#piece, this.#filled, at, bytes);
      at += moved;
      this.#filled += moved;
      if (this.#filled < PIECE_BYTES) continue;
      this.#waiting.push(this.#piece);
      this.#piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      this.#filled = 0;
      this.#wake();
    }
  }

  /** The client reads its connection again, beginning with what has come already. */
  #giveBack(rest?: Buffer): void {
    if (!this.#wire || !this.#listener) return;
    const { stream } = this.#wire;
    const listener = this.#listener;
    this.#listener = undefined;
    stream.off("data", this.#onData);
    stream.on("data", listener);
    if (rest) listener(rest);
    stream.resume();
  }
}
