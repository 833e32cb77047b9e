import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import pg from "pg";

/**
 * A pooler, written from the chapter on PostgreSQL's protocol: in transaction mode it gives each transaction another session,
 * in turn; in session mode a client keeps its session until it goes. Like pgbouncer it refuses start-up parameters that it cannot keep, and tells a made-up process id.
 */
export class LendingPooler {
  readonly port: number;
  readonly #server: Server;
  readonly #target: pg.ClientConfig;
  readonly #mode: Stock["mode"];
  readonly #idle: Session[];
  readonly #sockets = new Set<Socket>();
  readonly #waiting: ((session: Session) => void)[] = [];
  /** Sessions that were handed out. */
  lent = 0;

  private constructor(server: Server, { target, mode, sessions }: Stock) {
    this.#server = server;
    this.#target = target;
    this.#mode = mode;
    this.port = (server.address() as AddressInfo).port;
    this.#idle = sessions;
    server.on("connection", (socket) => this.#serve(socket));
  }

  static async start(target: pg.ClientConfig, mode: "transaction" | "session" = "transaction"): Promise<LendingPooler> {
    const sessions: Session[] = [];
    for (let made = 0; made < SESSIONS; made += 1) sessions.push(await openSession(target));
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    return new LendingPooler(server, { target, mode, sessions });
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const { socket } of this.#idle) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #serve(client: Socket): void {
    this.#sockets.add(client);
    let session: Session | undefined;
    let hasStarted = false;
    let waiting = Promise.resolve();
    let unread = Buffer.alloc(0);
    client.on("error", () => {});
    client.once("close", () => {
      this.#sockets.delete(client);
      // In the middle of a transaction the session cannot be given to anybody else; another one takes its place.
      if (!session) return;
      session.socket.destroy();
      void openSession(this.#target).then((fresh) => this.#give(fresh));
    });
    const release = () => {
      const released = session!;
      session = undefined;
      released.socket.removeAllListeners("data");
      this.#give(released);
    };
    const take = async () => {
      const taken = await this.#take();
      session = taken;
      const isOver = endOfTransaction();
      taken.socket.on("data", (chunk) => {
        const over = isOver(chunk);
        // Released first: the client may go on as soon as it has read this.
        if (over && this.#mode === "transaction") release();
        client.write(chunk);
      });
    };
    const forward = async (message: Buffer) => {
      if (message[0] === TERMINATE) return client.end();
      if (!session) await take();
      session!.socket.write(message);
    };
    client.on("data", (chunk) => {
      unread = Buffer.concat([unread, chunk]);
      for (;;) {
        const bytes = sizeOf(unread, hasStarted);
        if (bytes === undefined || unread.length < bytes) return;
        const message = unread.subarray(0, bytes);
        unread = unread.subarray(bytes);
        if (hasStarted) waiting = waiting.then(() => forward(message)).then(() => {});
        else hasStarted = greet(client, message);
      }
    });
  }

  async #take(): Promise<Session> {
    this.lent += 1;
    return this.#idle.shift() ?? new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** At the end of the line, so that the next transaction of the same client gets another session. */
  #give(session: Session): void {
    const next = this.#waiting.shift();
    if (next) next(session);
    else this.#idle.push(session);
  }
}

type Session = { socket: Socket };
type Stock = { target: pg.ClientConfig; mode: "transaction" | "session"; sessions: Session[] };

/** How many sessions a pooler has. */
export const SESSIONS = 6;

const TERMINATE = "X".charCodeAt(0);
const READY = "Z".charCodeAt(0);
const SSL_REQUEST = 80_877_103;
const KEPT_PARAMETERS = ["user", "database", "application_name", "client_encoding"];

/** The driver signs in; from then on its bytes are ours. */
async function openSession(target: pg.ClientConfig): Promise<Session> {
  const client = new pg.Client(target);
  client.on("error", () => {});
  await client.connect();
  const { stream: socket } = (client as unknown as { connection: { stream: Socket } }).connection;
  socket.removeAllListeners("data");
  return { socket };
}

/** The size of the first message, once it is known. A start-up message has no type before its length. */
function sizeOf(bytes: Buffer, hasStarted: boolean): number | undefined {
  if (bytes.length < (hasStarted ? 5 : 8)) return undefined;
  return hasStarted ? 1 + bytes.readInt32BE(1) : bytes.readInt32BE(0);
}

/** Answers a start-up message. Returns whether the client may go on. */
function greet(client: Socket, message: Buffer): boolean {
  if (message.readInt32BE(4) === SSL_REQUEST) {
    client.write("N");
    return false;
  }
  const words = message.subarray(8).toString().split("\0");
  const names = words.filter((word, index) => index % 2 === 0 && word !== "");
  const refused = names.find((name) => !KEPT_PARAMETERS.includes(name));
  if (refused !== undefined) {
    const text = `SFATAL\0C08P01\0Munsupported startup parameter: ${refused}\0\0`;
    client.end(typed("E", Buffer.from(text)));
    return false;
  }
  const key = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1]);
  client.write(Buffer.concat([typed("R", Buffer.alloc(4)), typed("K", key), typed("Z", Buffer.from("I"))]));
  return true;
}

function typed(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + content.length, 1);
  return Buffer.concat([head, content]);
}

/** Reads a server's messages, and says when one of them tells that no transaction is open any more. */
function endOfTransaction(): (chunk: Buffer) => boolean {
  let unread = Buffer.alloc(0);
  return (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    let isOver = false;
    for (
      let bytes = sizeOf(unread, true);
      bytes !== undefined && unread.length >= bytes;
      bytes = sizeOf(unread, true)
    ) {
      if (unread[0] === READY) isOver = unread[5] === "I".charCodeAt(0);
      unread = unread.subarray(bytes);
    }
    return isOver;
  };
}
