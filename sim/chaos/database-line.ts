import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A proxy between the server and its database. Its state applies to every connection, old and new:
 *
 *   passes ─▶ slow: each piece is delayed ─▶ silent: nothing passes, nobody hangs up ─▶ passes
 */
export class DatabaseLine {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #delayMs = 0;
  #opened: Promise<void> = Promise.resolve();
  #open = () => {};

  private constructor(server: Server, sockets: Set<Socket>) {
    this.port = (server.address() as AddressInfo).port;
    this.#server = server;
    this.#sockets = sockets;
  }

  static async open(databasePort: number): Promise<DatabaseLine> {
    const sockets = new Set<Socket>();
    const server = createServer({ noDelay: true });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const line = new DatabaseLine(server, sockets);
    server.on("connection", (near) => {
      const far = connect({ host: "127.0.0.1", port: databasePort, noDelay: true });
      line.#join(near, far);
      line.#join(far, near);
    });
    return line;
  }

  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  silence(): void {
    this.#opened = new Promise((resolve) => (this.#open = resolve));
  }

  pass(): void {
    this.#delayMs = 0;
    this.#open();
    this.#opened = Promise.resolve();
  }

  async close(): Promise<void> {
    this.pass();
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Pieces keep their order, no matter how long each is delayed. */
  #join(from: Socket, to: Socket): void {
    let last: Promise<void> = Promise.resolve();
    const after = (pass: () => void) => {
      const delayMs = this.#delayMs;
      last = last.then(async () => {
        if (delayMs > 0) await sleep(delayMs);
        await this.#opened;
        pass();
      });
    };
    this.#sockets.add(from);
    from.on("data", (piece) => after(() => to.writable && to.write(piece)));
    from.on("error", () => {});
    from.on("close", () => {
      this.#sockets.delete(from);
      after(() => to.destroy());
    });
  }
}
