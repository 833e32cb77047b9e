import { elapsedMs } from "../../clock.ts";
import type { ApiError } from "../../errors.ts";
import { type BodyOwner, type BodyRoom, bodyOwner } from "../../intake/body-room.ts";
import type { Metrics } from "../../intake/metrics.ts";
import { LIMITS } from "../../limits.ts";
import type { Log } from "../../log.ts";
import { answerOfError, type FailedAnswer } from "../answer.ts";
import type { CallerAddress } from "../caller-address.ts";
import type { Exchange } from "../exchange.ts";

export type DoorContext = {
  log: Log;
  caller: CallerAddress;
  /** Bodies that are being received or answered. */
  bodies: BodyRoom;
  metrics: Metrics;
  isStopping: () => boolean;
};

let lastId = 0;

/**
 * One call on the fast path: without the framework's routing, hooks and reply, and on the fast lane without node:http too.
 * Answers, headers and metrics are the same on all paths.
 */
export class DoorCall {
  readonly #context: DoorContext;
  readonly #exchange: Exchange;
  readonly #endpoint: string;
  readonly #startedMs = elapsedMs();
  /** The owner that held bytes of the body are charged to, until the answer. */
  #owner: BodyOwner | undefined;
  #heldBytes = 0;

  constructor(context: DoorContext, exchange: Exchange, endpoint: string) {
    this.#context = context;
    this.#exchange = exchange;
    this.#endpoint = endpoint;
  }

  get ip(): string {
    return this.#context.caller.of(this.#exchange.peer, this.#exchange.headers["x-forwarded-for"]);
  }

  get ua(): string {
    return (this.#exchange.headers["user-agent"] ?? "").slice(0, LIMITS.propertyTextBytes);
  }

  succeed(body: string): void {
    this.#respond(200, 0, body);
  }

  fail(error: unknown): FailedAnswer {
    lastId += 1;
    const path = this.#exchange.url.split("?", 1)[0];
    const answer = answerOfError(this.#context, error, { id: `${this.#endpoint}-${lastId}`, url: path });
    const headers = this.#exchange.mustClose() ? { ...answer.headers, connection: "close" } : answer.headers;
    this.#respond(answer.status, answer.code, answer.body, headers);
    return answer;
  }

  readBody(done: (bytes: Buffer) => void, options: { appId: number; bytesMax: number }): void {
    const owner = bodyOwner(this.ip, options.appId);
    this.#owner = owner;
    this.#exchange.receive({
      bytesMax: options.bytesMax,
      hold: (bytes) => this.#hold(owner, bytes),
      done,
      refuse: (error) => this.fail(error),
      gone: () => this.#letGo(),
    });
  }

  #hold(owner: BodyOwner, bytes: number): ApiError | undefined {
    const refusal = this.#context.bodies.take(owner, bytes);
    if (!refusal) this.#heldBytes += bytes;
    return refusal;
  }

  #letGo(): void {
    if (this.#heldBytes > 0) this.#context.bodies.give(this.#owner!, this.#heldBytes);
    this.#heldBytes = 0;
  }

  #respond(status: number, code: number, body: string, headers?: Readonly<Record<string, string>>): void {
    let sent = headers;
    if (this.#exchange.headers.origin !== undefined) sent = { ...sent, "access-control-allow-origin": "*" };
    if (this.#context.isStopping()) sent = { ...sent, connection: "close" };
    this.#exchange.answer(status, body, sent);
    this.#letGo();
    this.#context.metrics.answered(this.#endpoint, code, elapsedMs() - this.#startedMs);
  }
}
