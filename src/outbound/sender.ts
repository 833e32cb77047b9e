import { lookup } from "node:dns";
import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { messageOf } from "../errors.ts";
import type { HttpReply, HttpRequest } from "../platform/connector/connector.ts";

/**
 * The result of a call. `not_sent`: it never left, so a retry repeats nothing. `unknown`: it may have arrived, and only
 * the answer was lost.
 */
export type Sent =
  | { kind: "reply"; reply: HttpReply; headers: http.IncomingHttpHeaders }
  | { kind: "not_sent"; reason: string }
  | { kind: "unknown"; reason: string };

export type SenderOptions = {
  deadlineMs: number;
  connectionsMax: number;
  /** The longest accepted answer; default 1 MiB. */
  replyBytesMax?: number;
  /** Whether an address may be called. */
  mayCall: (address: string) => boolean;
};

const REPLY_BYTES_MAX = 1024 * 1024;

/** Sends requests to external servers. Never follows a redirect: only the caller decides which address is called. */
export class Sender {
  readonly #options: SenderOptions;
  readonly #agents: { http: http.Agent; https: https.Agent };

  constructor(options: SenderOptions) {
    this.#options = options;
    const agent = { keepAlive: true, maxSockets: options.connectionsMax, maxFreeSockets: options.connectionsMax };
    this.#agents = { http: new http.Agent(agent), https: new https.Agent(agent) };
  }

  get deadlineMs(): number {
    return this.#options.deadlineMs;
  }

  /**
   * `fresh` uses a new connection. The other side may close a kept connection just as the call leaves, and then it is
   * unknown whether the call arrived. `stopping` ends the wait for the answer.
   */
  send(request: HttpRequest, connection: "kept" | "fresh", stopping?: AbortSignal): Promise<Sent> {
    const { mayCall, deadlineMs, replyBytesMax = REPLY_BYTES_MAX } = this.#options;
    const url = new URL(request.url);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && !mayCall(host)) {
      return Promise.resolve({ kind: "not_sent", reason: `${host} is an address of a private network.` });
    }
    const isTls = url.protocol === "https:";
    const kept = isTls ? this.#agents.https : this.#agents.http;
    const options: https.RequestOptions = {
      method: request.method,
      headers: {
        ...request.headers,
        ...(request.body !== undefined && { "content-length": Buffer.byteLength(request.body) }),
      },
      agent: connection === "kept" ? kept : false,
      ...(stopping && { signal: stopping }),
      lookup: guarded(mayCall),
    };
    return new Promise((resolve) => {
      let hasLeft = false;
      const call = (isTls ? https : http).request(url, options);
      // A timer, because a signal makes the call watch itself with a dozen listeners.
      const deadline = setTimeout(() => call.destroy(new Error(silenceOf(deadlineMs))), deadlineMs);
      const settle = (sent: Sent) => {
        clearTimeout(deadline);
        resolve(sent);
      };
      call.on("socket", (socket) => {
        if (!socket.connecting) hasLeft = true;
        else socket.once(isTls ? "secureConnect" : "connect", () => (hasLeft = true));
      });
      const fail = (error: Error) =>
        settle({ kind: hasLeft ? "unknown" : "not_sent", reason: reasonOf(error, deadlineMs) });
      call.on("error", fail);
      call.on("response", (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= replyBytesMax) chunks.push(chunk);
          else response.destroy(new Error("The answer is too long."));
        });
        response.on("error", fail);
        response.on("end", () =>
          settle({
            kind: "reply",
            reply: { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString("utf8") },
            headers: response.headers,
          }),
        );
      });
      call.end(request.body);
    });
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }
}

function silenceOf(deadlineMs: number): string {
  return `No answer within ${deadlineMs / 1000} s.`;
}

function reasonOf(error: Error, deadlineMs: number): string {
  if (error.name === "AbortError") return silenceOf(deadlineMs);
  const { code } = error as NodeJS.ErrnoException;
  return code ? `The connection failed (${code}).` : messageOf(error).slice(0, 200);
}

/** Resolves a name to allowed addresses only, so that the address that is called is the one that was checked. */
function guarded(mayCall: (address: string) => boolean): LookupFunction {
  return (hostname, options, answer) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const allowed = (error ? [] : addresses).filter(({ address }) => mayCall(address));
      const refusal = error ?? (allowed.length > 0 ? null : new Error(`${hostname} is in a private network.`));
      if (refusal) answer(refusal, "", 0);
      else if (options.all) answer(null, allowed);
      else answer(null, allowed[0]!.address, allowed[0]!.family);
    });
  };
}
