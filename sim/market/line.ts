import { connect, type Socket } from "node:net";

export type Reply = { status: number; body: string };

/**
 * Keeps some connections open and sends one request at a time on each, over plain sockets: the market shares the machine
 * with the server, and a full HTTP client would use more of it than the server does.
 */
export class Lines {
  readonly #at: { host: string; port: number };
  readonly #free: Line[] = [];
  readonly #waiting: ((line: Line) => void)[] = [];
  #left: number;

  constructor(url: string, connections: number) {
    const { hostname, port } = new URL(url);
    this.#at = { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 80) };
    this.#left = connections;
  }

  get host(): string {
    return `${this.#at.host}:${this.#at.port}`;
  }

  /** Resolves to undefined if no answer came, for any reason. */
  async send(request: Buffer): Promise<Reply | undefined> {
    const line = await this.#take();
    try {
      return await line.send(request);
    } catch {
      return undefined;
    } finally {
      this.#put(line);
    }
  }

  /** Sends a request and hangs up before an answer can come. */
  async sendAndBreak(request: Buffer): Promise<void> {
    const line = await this.#take();
    // If no one listens, the connection breaks even earlier.
    await line.sendAndBreak(request).catch(() => {});
    this.#put(line);
  }

  close(): void {
    for (const line of this.#free.splice(0)) line.close();
  }

  #take(): Promise<Line> | Line {
    const free = this.#free.pop();
    if (free) return free;
    if (this.#left > 0) {
      this.#left -= 1;
      return new Line(this.#at);
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #put(line: Line): void {
    const next = this.#waiting.shift();
    if (next) next(line);
    else this.#free.push(line);
  }
}

const ANSWER_MS_MAX = 20_000;

class Line {
  readonly #at: { host: string; port: number };
  #socket: Socket | undefined;
  #received = "";
  #settle: ((reply: Reply | undefined) => void) | undefined;

  constructor(at: { host: string; port: number }) {
    this.#at = at;
  }

  async send(request: Buffer): Promise<Reply | undefined> {
    const socket = await this.#open();
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#end(), ANSWER_MS_MAX);
      this.#settle = (reply) => {
        clearTimeout(timer);
        this.#settle = undefined;
        resolve(reply);
      };
      socket.write(request);
    });
  }

  async sendAndBreak(request: Buffer): Promise<void> {
    const socket = await this.#open();
    await new Promise<void>((resolve) => socket.write(request, () => resolve()));
    this.#end();
  }

  close(): void {
    this.#end();
  }

  async #open(): Promise<Socket> {
    if (this.#socket && !this.#socket.destroyed) return this.#socket;
    const socket = connect(this.#at);
    socket.setNoDelay(true);
    socket.setEncoding("utf8");
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    socket.on("data", (text) => this.#read(String(text)));
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.#socket === socket) this.#end();
    });
    this.#socket = socket;
    this.#received = "";
    return socket;
  }

  #end(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#settle?.(undefined);
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = this.#received.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const body = this.#received.slice(headEnd + 4);
    if (Buffer.byteLength(body) < length) return;
    this.#received = "";
    this.#settle?.({ status: Number(head.slice(9, 12)), body });
    if (/\r\nconnection: close/i.test(head)) this.#end();
  }
}
