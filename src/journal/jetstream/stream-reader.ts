import { setTimeout as sleep } from "node:timers/promises";
import { AckPolicy, DeliverPolicy, type JetStreamManager, type StreamState } from "@nats-io/jetstream";
import { type Msg, type NatsConnection, nanos } from "@nats-io/transport-node";
import { elapsedMs } from "../../clock.ts";
import { MIB } from "../../limits.ts";
import type { LogItem, LogReader, Position } from "../entry-log.ts";

/** What one request brings at most. A message is always at most `max_payload` long. */
const MESSAGES_AT_ONCE = 1_000;
const BYTES_AT_ONCE = 4 * MIB;
/** How long the server waits for messages that should be there, and how long we wait for the server. */
const EXPIRES_MS = 2_000;
const ANSWER_MS = 3_000;
/** A consumer that nobody asks any more is removed by the server, which does not say so: an unused one is left before that. */
const CONSUMER_KEPT_MS = 60_000;
const CONSUMER_UNUSED_MS = 30_000;
/** Attempts to get an entry that the leader has: a consumer may sit at a server that lags behind. */
const TRIES_MAX = 10;
const TRY_AGAIN_MS = 200;

export type ReaderOptions = {
  connection: NatsConnection;
  manager: JetStreamManager;
  stream: string;
};

/**
 * Reads the stream of a partition. The entry with sequence s lies between the positions s − 1 and s.
 *
 *   fetch ─▶ next in sequence? ─▶ item
 *              └─no─▶ ask the leader ─┬─▶ it is missing there too: damage
 *                                     └─▶ it is there: lost on the way, fetch again with a new consumer
 */
export class StreamReader implements LogReader {
  readonly #options: ReaderOptions;
  #position: Position;
  #items: LogItem[] = [];
  /** A consumer that exists only for this reader. */
  #consumer: string | undefined;
  #fetchedAtMs = 0;

  constructor(options: ReaderOptions, from: Position) {
    this.#options = options;
    this.#position = from;
  }

  get position(): Position {
    return this.#position;
  }

  async next(until: Position): Promise<LogItem | undefined> {
    for (let tries = 0; this.#position < until; tries += 1) {
      const item = this.#items.shift();
      if (item) {
        this.#position = item.until;
        return item;
      }
      if (tries > 1) await sleep(TRY_AGAIN_MS);
      if (tries === TRIES_MAX)
        throw new Error(`The stream ${this.#options.stream} does not deliver sequence ${this.#position + 1}.`);
      this.#items = await this.#fetchItems(until);
    }
    return undefined;
  }

  async close(): Promise<void> {
    this.#items = [];
    await this.#forgetConsumer();
  }

  /** The items that follow the position; none when they were lost on the way. */
  async #fetchItems(until: Position): Promise<LogItem[]> {
    const messages = await this.#fetch(Math.min(until - this.#position, MESSAGES_AT_ONCE));
    const items: LogItem[] = [];
    let from = this.#position;
    for (const { reply = "", data } of messages) {
      if (sequenceOf(reply) !== from + 1) break;
      items.push({ kind: "record", from, until: from + 1, payload: bufferOf(data) });
      from += 1;
    }
    if (items.length < messages.length || items.length === 0) await this.#forgetConsumer();
    return items.length > 0 ? items : this.#missing();
  }

  async #missing(): Promise<LogItem[]> {
    const { manager, stream } = this.#options;
    const from = this.#position;
    const { state } = await manager.streams.info(stream, { deleted_details: true });
    if (state.last_seq <= from)
      throw new Error(`The stream ${stream} ends at ${state.last_seq}, but there were more entries in it.`);
    const until = missingUntil(state, from);
    return until > from ? [{ kind: "damage", from, until, payload: Buffer.alloc(0) }] : [];
  }

  async #fetch(batch: number): Promise<Msg[]> {
    const { connection, stream } = this.#options;
    if (elapsedMs() - this.#fetchedAtMs > CONSUMER_UNUSED_MS) await this.#forgetConsumer();
    this.#fetchedAtMs = elapsedMs();
    this.#consumer ??= await this.#newConsumer();
    const max_bytes = Math.max(BYTES_AT_ONCE, 2 * (connection.info?.max_payload ?? 0));
    const wish = JSON.stringify({ batch, max_bytes, expires: nanos(EXPIRES_MS) });
    const messages: Msg[] = [];
    try {
      const answers = await connection.requestMany(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#consumer}`, wish, {
        strategy: "sentinel",
        maxWait: ANSWER_MS,
        noMux: true,
      });
      for await (const answer of answers) {
        // Entries are never empty: it is the server's word that no more will come.
        if (answer.data.length === 0) break;
        messages.push(answer);
        if (messages.length === batch) break;
      }
    } catch {
      // The consumer is gone, or its server. The leader knows what there is to read.
    }
    return messages;
  }

  async #newConsumer(): Promise<string> {
    const { manager, stream } = this.#options;
    const { name } = await manager.consumers.add(stream, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#position + 1,
      inactive_threshold: nanos(CONSUMER_KEPT_MS),
      mem_storage: true,
      num_replicas: 1,
    });
    return name;
  }

  async #forgetConsumer(): Promise<void> {
    const { manager, stream } = this.#options;
    const consumer = this.#consumer;
    this.#consumer = undefined;
    if (consumer === undefined) return;
    // The server removes it by itself if this fails.
    await manager.consumers.delete(stream, consumer).catch(() => {});
  }
}

/** The position behind the entries after `from` that a stream does not hold; `from` itself when it holds the next one. */
export function missingUntil(
  { first_seq, last_seq, deleted }: Pick<StreamState, "first_seq" | "last_seq"> & { deleted?: number[] | undefined },
  from: Position,
): Position {
  const gone = new Set(deleted);
  let until = Math.max(from, Math.min(first_seq - 1, last_seq));
  while (until < last_seq && gone.has(until + 1)) until += 1;
  return until;
}

/**
 * The sequence of a delivered message, from the subject for its acknowledgement:
 *   $JS.ACK.STREAM.CONSUMER.DELIVERIES.SEQUENCE.… or $JS.ACK.DOMAIN.ACCOUNT.STREAM.CONSUMER.DELIVERIES.SEQUENCE.…
 */
export function sequenceOf(reply: string): number {
  const parts = reply.split(".");
  return Number(parts[parts.length > 9 ? 7 : 5]);
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
