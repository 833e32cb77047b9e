import { Agent, type IncomingHttpHeaders, request } from "node:http";
import type { FuzzRequest } from "./request.ts";

export type FuzzAnswer = { status: number; headers: IncomingHttpHeaders; body: string };

const WAIT_MS_MAX = 120_000;
/** Streams never end by themselves. */
const STREAMS = /^text\/event-stream/;

/** Sends requests as a client with persistent connections would. */
export class FuzzClient {
  readonly #base: URL;
  readonly #agent: Agent;

  constructor(base: string, connections: number) {
    this.#base = new URL(base);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Rejects if no answer came, or one that is not HTTP. */
  send({ method, url, headers, body }: FuzzRequest): Promise<FuzzAnswer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#base;
      const length = body && method !== "GET" && method !== "HEAD" ? { "content-length": body.length } : {};
      const call = request(
        { hostname, port, method, path: url, headers: { ...headers, ...length }, agent: this.#agent },
        (response) => {
          const chunks: Buffer[] = [];
          const done = () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
          };
          if (STREAMS.test(response.headers["content-type"] ?? "")) {
            response.destroy();
            return done();
          }
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", done);
          response.on("error", reject);
        },
      );
      call.setTimeout(WAIT_MS_MAX, () => call.destroy(new Error(`No answer within ${WAIT_MS_MAX} ms.`)));
      call.on("error", reject);
      call.end("content-length" in length ? body : undefined);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Content types that carry no envelope: figures, pages, streams and empty bodies. */
const OTHER_TYPES = /^(?:text\/(?:plain|html|csv|event-stream)|application\/x-ndjson)/;
const LEAKS = /\n\s+at .+:\d+:\d+|node_modules|node:internal|\/(?:src|dist)\/|\.(?:ts|js):\d+/;
const SQL = /SELECT |syntax error at|relation "|column "/;
/** Whoever writes a query is told what is wrong with it, in the words of the engine. */
const TAKES_SQL = "/admin/api/v1/analysis/sql";
const OF_ENGINE = /"msg":"(?:Parser|Binder|Catalog) Error: /;

/** The fault in an answer, or undefined. `codes` is the closed list of the interface. */
export function faultOf(
  { method, operation, damage }: FuzzRequest,
  answer: FuzzAnswer,
  codes: ReadonlySet<number>,
): string | undefined {
  const { status, headers, body } = answer;
  const type = headers["content-type"] ?? "";
  if (status >= 500 && status !== 503) return `status ${status}: ${body.slice(0, 300)}`;
  const isToldSql = operation.path === TAKES_SQL && OF_ENGINE.test(body);
  if (LEAKS.test(body) || (SQL.test(body) && !isToldSql)) return `it tells about its inside: ${body.slice(0, 500)}`;
  if (method === "HEAD" || status === 204 || status === 302) return undefined;
  if (OTHER_TYPES.test(type) && status === 200) return undefined;
  if (operation.path === "/openapi.json" && status === 200) return undefined;
  if (!/^application\/json/.test(type)) return `type ${type} with status ${status} (${damage}): ${body.slice(0, 300)}`;
  return faultOfEnvelope(body, codes);
}

function faultOfEnvelope(body: string, codes: ReadonlySet<number>): string | undefined {
  let envelope: Record<string, unknown>;
  try {
    envelope = JSON.parse(body) as Record<string, unknown>;
  } catch {
    return `no JSON: ${body.slice(0, 300)}`;
  }
  const { code, msg, data, extra } = envelope;
  const isWhole = typeof msg === "string" && isObject(data) && isObject(extra);
  if (!isWhole) return `no envelope: ${body.slice(0, 300)}`;
  return codes.has(code as number) && code !== 5000 ? undefined : `code ${code}: ${msg}`;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
