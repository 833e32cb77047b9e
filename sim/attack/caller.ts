import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

export type Call = {
  method?: string;
  path: string;
  /** Sent as it is, or as JSON. */
  body?: Buffer | string | object;
  headers?: OutgoingHttpHeaders;
  /** The caller's address, as the proxy in front of the server names it. */
  from?: string;
};

export type Reply = { status: number; code: number; msg: string; headers: IncomingHttpHeaders; text: string };

const WAIT_MS_MAX = 60_000;
const CONNECTIONS = 512;
const NO_REPLY: Reply = { status: 0, code: -1, msg: "", headers: {}, text: "" };
const EVENT_CENTER = "/event_center/api/v1/";

/** The attackers' HTTP client: keeps connections open and counts calls and answers. */
export class Caller {
  readonly #base: URL;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  readonly #sockets = new Set<Socket>();
  readonly answers = new Map<string, number>();
  calls = 0;
  bytesSent = 0;

  constructor(url: string) {
    this.#base = new URL(url);
  }

  get host(): string {
    return this.#base.host;
  }

  /** The status is 0 if no answer comes. */
  send({ method = "POST", path, body, headers = {}, from }: Call): Promise<Reply> {
    const bytes = bytesOf(body);
    this.calls += 1;
    this.bytesSent += (bytes?.length ?? 0) + path.length;
    return new Promise<Reply>((resolve) => {
      const { hostname, port } = this.#base;
      const whole: OutgoingHttpHeaders = {
        ...(from !== undefined && { "x-forwarded-for": from }),
        ...(bytes !== undefined && { "content-type": "application/json", "content-length": bytes.length }),
        ...headers,
      };
      const call = request({ hostname, port, method, path, headers: whole, agent: this.#agent }, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", () => resolve(NO_REPLY));
        response.on("end", () =>
          resolve(replyOf(response.statusCode ?? 0, response.headers, Buffer.concat(pieces).toString())),
        );
      });
      call.setTimeout(WAIT_MS_MAX, () => call.destroy());
      call.on("error", () => resolve(NO_REPLY));
      call.end(bytes);
    }).then((reply) => this.#counted(reply));
  }

  /** POST to a collection endpoint on behalf of an app. */
  collect(accessToken: string, path: string, body: Call["body"], more: Pick<Call, "headers" | "from"> = {}) {
    return this.send({ path: `${EVENT_CENTER}${path}?access_token=${accessToken}`, body: body ?? "", ...more });
  }

  register(accessToken: string, clientId: string, more: object = {}): Promise<Reply> {
    const body = { client_id: clientId, name: "n", channel: "c", version: 1, ...more };
    return this.collect(accessToken, "user/register/", body);
  }

  /** A call of a monitoring link. */
  link(kind: "click" | "impression", query: string, from: string): Promise<Reply> {
    return this.send({ method: "GET", path: `${EVENT_CENTER}event/${kind}/?${query}`, from });
  }

  /** A raw connection that need not speak HTTP. */
  socket(): Promise<Socket | undefined> {
    const socket = connect(Number(this.#base.port), this.#base.hostname);
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    this.calls += 1;
    return new Promise((resolve) => {
      socket.once("connect", () => resolve(socket));
      socket.on("error", () => resolve(undefined));
    });
  }

  /** Counts an answer that came on a raw connection. */
  count(answer: string): void {
    this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
  }

  close(): void {
    this.#agent.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }

  #counted(reply: Reply): Reply {
    this.count(reply.status === 0 ? "none" : `${reply.status} ${reply.code < 0 ? "-" : reply.code}`);
    return reply;
  }
}

/** Headers of a compressed body, as SDKs send it. */
export const PACKED: OutgoingHttpHeaders = { "content-encoding": "gzip" };

export function packed(text: string | Buffer): Buffer {
  return gzipSync(text, { level: 9 });
}

function bytesOf(body: Call["body"]): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

function replyOf(status: number, headers: IncomingHttpHeaders, text: string): Reply {
  try {
    const { code, msg } = JSON.parse(text) as { code: unknown; msg: unknown };
    return { status, headers, text, code: typeof code === "number" ? code : -1, msg: String(msg) };
  } catch {
    return { status, headers, text, code: -1, msg: "" };
  }
}
