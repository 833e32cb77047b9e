import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../src/clock.ts";

/** Makes the bytes of each request in turn. */
export type RequestMaker = () => Buffer;

export type LoadResult = {
  requests: number;
  failures: number;
  seconds: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
};

/**
 * Keeps `connections` requests in flight for a while, over plain sockets: a full HTTP client would need more of the
 * two cores than the servers it measures. With `perSecond`, requests start at that rate instead.
 */
export async function runLoad(options: {
  port: number;
  requests: RequestMaker;
  connections: number;
  seconds: number;
  perSecond?: number;
}): Promise<LoadResult> {
  const { requests, seconds, perSecond } = options;
  const lanes = await Promise.all(Array.from({ length: options.connections }, () => Lane.open(options.port)));
  const latencies: number[] = [];
  const startedMs = elapsedMs();
  const endMs = startedMs + seconds * 1000;
  let started = 0;
  let failures = 0;
  const run = async (lane: Lane) => {
    for (;;) {
      const nowMs = elapsedMs();
      if (nowMs >= endMs) return;
      let sinceMs = nowMs;
      if (perSecond !== undefined) {
        // A request that is due while all connections are busy counts from when it was due.
        sinceMs = startedMs + (started * 1000) / perSecond;
        started += 1;
        if (sinceMs > nowMs) {
          await sleep(sinceMs - nowMs);
          sinceMs = elapsedMs();
        }
      }
      const isAccepted = await lane.request(requests());
      latencies.push(elapsedMs() - sinceMs);
      if (!isAccepted) failures += 1;
    }
  };
  await Promise.all(lanes.map(run));
  const took = (elapsedMs() - startedMs) / 1000;
  for (const lane of lanes) lane.close();
  latencies.sort((left, right) => left - right);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return {
    requests: latencies.length,
    failures,
    seconds: took,
    perSecond: latencies.length / took,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

/** One connection, one request at a time. */
class Lane {
  readonly #socket: Socket;
  #resolve: ((isAccepted: boolean) => void) | undefined;
  #received = "";

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#read(text));
    socket.on("close", () => this.#resolve?.(false));
    socket.on("error", () => {});
  }

  static open(port: number): Promise<Lane> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () => resolve(new Lane(socket)));
      socket.once("error", reject);
    });
  }

  /** Resolves to false also when the other side hangs up, because no answer will come. */
  request(bytes: Buffer): Promise<boolean> {
    if (this.#socket.destroyed) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#socket.write(bytes);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < headEnd + 4 + length) return;
    const isAccepted = this.#received.startsWith("HTTP/1.1 200") && this.#received.includes('"code":0');
    this.#received = "";
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.(isAccepted);
  }
}
