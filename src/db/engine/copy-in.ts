import { type Duplex, Writable } from "node:stream";
import type pg from "pg";

/** A message begins with its kind and its length, without the kind. */
const HEAD_BYTES = 5;
const LENGTH_BYTES = 4;
const ROWS = 0x64; // d
const END = Buffer.from([0x63, 0, 0, 0, LENGTH_BYTES]); // c

type Wire = { stream: Duplex; query: (text: string) => void; sendCopyFail: (reason: string) => void };

/**
 * The rows of `COPY … FROM STDIN`, whole ones or pieces, in the form that the statement names:
 *
 *   const copy = tx.query(new CopyIn("copy event from stdin"));
 *   await copy.write(rows);
 *   await copy.end();
 *
 * Until `end` or `fail`, the connection can run no other statement. The stream of pg-copy-streams calls back before the rows
 * have left the process, so their memory could not be used again.
 */
export class CopyIn implements pg.Submittable {
  /** Known at the end. */
  rowCount = 0;
  readonly #text: string;
  #wire: Wire | undefined;
  #failure: Error | undefined;
  #begin = () => {};
  #finish = () => {};
  /** Once the database asks for rows, or has failed. */
  readonly #begun = new Promise<void>((resolve) => (this.#begin = resolve));
  readonly #finished = new Promise<void>((resolve) => (this.#finish = resolve));

  constructor(text: string) {
    this.#text = text;
  }

  /** Resolves once the rows have left this process: their memory can be used for others then. */
  async write(rows: Buffer): Promise<void> {
    const { stream } = await this.#opened();
    const head = Buffer.allocUnsafe(HEAD_BYTES);
    head[0] = ROWS;
    head.writeUInt32BE(rows.length + LENGTH_BYTES, 1);
    // A connection that breaks calls back, too, and then tells why by `handleError`.
    await new Promise<void>((resolve) => {
      stream.cork();
      stream.write(head);
      stream.write(rows, () => resolve());
      stream.uncork();
    });
  }

  /** Resolves once the rows are stored. */
  async end(): Promise<void> {
    const { stream } = await this.#opened();
    stream.write(END);
    await this.#finished;
    if (this.#failure) throw this.#failure;
  }

  /** Gives up: nothing is stored, and the transaction has failed. */
  async fail(reason: string): Promise<void> {
    await this.#begun;
    if (!this.#failure) this.#wire!.sendCopyFail(reason);
    await this.#finished;
  }

  async #opened(): Promise<Wire> {
    await this.#begun;
    if (this.#failure) throw this.#failure;
    return this.#wire!;
  }

  /** The client calls it when the connection is free, and those below as answers come. */
  submit(connection: pg.Connection): void {
    this.#wire = connection as unknown as Wire;
    this.#wire.query(this.#text);
  }

  handleCopyInResponse(): void {
    this.#begin();
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.rowCount = Number(/\d+$/.exec(text)?.[0] ?? 0);
  }

  handleReadyForQuery(): void {
    this.#finish();
  }

  /** The database drops rows that are still on their way. */
  handleError(failure: Error): void {
    this.#failure ??= failure;
    this.#begin();
    this.#finish();
  }
}

/** A `CopyIn` as the end of a pipeline. `rowCount` is known once it has finished. */
export class CopyInStream extends Writable {
  readonly #copy: CopyIn;

  constructor(tx: pg.PoolClient, text: string) {
    super();
    this.#copy = tx.query(new CopyIn(text));
  }

  get rowCount(): number {
    return this.#copy.rowCount;
  }

  override _write(rows: Buffer, _encoding: string, done: (failure?: Error) => void): void {
    this.#copy.write(rows).then(() => done(), done);
  }

  override _final(done: (failure?: Error) => void): void {
    this.#copy.end().then(() => done(), done);
  }

  override _destroy(failure: Error | null, done: (failure: Error | null) => void): void {
    // After the end there is nothing to give up.
    const ended = this.writableFinished ? Promise.resolve() : this.#copy.fail(failure?.message ?? "given up");
    ended.then(() => done(failure));
  }
}
