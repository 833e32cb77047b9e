import { setTimeout as sleep } from "node:timers/promises";
import { type JetStreamManager, jetstreamManager, type StreamInfo } from "@nats-io/jetstream";
import { connect, type NatsConnection, type NodeConnectionOptions } from "@nats-io/transport-node";
import { elapsedMs } from "../../clock.ts";
import { ApiError, messageOf } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { SharedRoom } from "../../shared-room.ts";
import { type NewEntry, payloadOf } from "../entry.ts";
import type { Appended, EntryLog, LogReader, Position } from "../entry-log.ts";
import { Acknowledgements } from "./acknowledgements.ts";
import { partitionOfApp } from "./app-partition.ts";
import { assertUsable, promiseOf, type ServerPromise } from "./nats-server.ts";
import { StreamReader } from "./stream-reader.ts";
import { openStreams, type StreamsWish, subjectOf } from "./streams.ts";

/** How long an entry waits for its acknowledgement. Callers of a log without a majority are refused within two seconds. */
const APPEND_MS = 1_500;
/** How long an answer about a stream may take. */
const API_MS = 2_000;
/** A server that is silent for so long is left for another one. */
const PING = { pingInterval: 1_000, maxPingOut: 2 } as const;
const RECONNECT_MS = 250;
const RETRY_AFTER_S = 5;
const CLOSE_LOOK_MS = 5;

export type JetStreamLogOptions = StreamsWish & {
  /** Servers, credentials and TLS, as the NATS client takes them. */
  connection: NodeConnectionOptions;
  /** The longest payload of an entry. The servers must take it. */
  entryBytesMax: number;
  pendingBytesMax: number;
  log: Log;
  /** The refusal of an app of which more than an even share waits for its acknowledgement. */
  overShare?: (app: number) => ApiError;
  onAppended?: (appended: Appended) => void;
};

/** What is known about a partition. */
type Partition = { stream: string; subject: string; end: Position; bytesPerEntry: number; freeBytes: number };

/**
 * The log in NATS JetStream: one stream per partition, whose sequences are the positions. An entry is acknowledged when a
 * majority of the stream's servers holds it; `promise` says what that means for their disks.
 *
 * An entry whose acknowledgement does not come in time is refused, and may be stored all the same. Its caller sends it again,
 * and apply recognises the repetition, as it does when an answer is lost between a client and this server.
 */
export class JetStreamLog implements EntryLog {
  readonly id: string;
  readonly promise: ServerPromise;
  readonly #options: JetStreamLogOptions;
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #partitions: Partition[];
  readonly #acknowledgements: Acknowledgements;
  /** Bytes that wait for their acknowledgement, by app. */
  readonly #room: SharedRoom<number>;
  #writtenBytes = 0;
  #isConnected = true;
  #isClosed = false;
  /** Why entries are refused since the last one that was stored; empty while they are stored. */
  #trouble = "";

  private constructor(options: JetStreamLogOptions, opened: Opened) {
    const { connection, manager, id, streams } = opened;
    this.id = id;
    this.#options = options;
    this.#connection = connection;
    this.#manager = manager;
    this.#partitions = streams.map((info, partition) => ({
      stream: info.config.name,
      subject: subjectOf(options.name, partition),
      ...shapeOf(info),
    }));
    this.#room = new SharedRoom(options.pendingBytesMax);
    this.#acknowledgements = new Acknowledgements((appended) => options.onAppended?.(appended));
    this.promise = promiseOf({ version: connection.info?.version ?? "", replicas: options.replicas });
    void this.#watchConnection();
  }

  static async open(options: JetStreamLogOptions): Promise<JetStreamLog> {
    const connection = await connect({
      ...options.connection,
      ...PING,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      // A stack for each request costs more than the request.
      noAsyncTraces: true,
    });
    try {
      assertUsable(connection.info!, options);
      const manager = await jetstreamManager(connection, { timeout: API_MS });
      return new JetStreamLog(options, { connection, manager, ...(await openStreams(manager, options)) });
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  get partitions(): number {
    return this.#partitions.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get waitingBytes(): number {
    return this.#room.used;
  }

  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  partitionOf(app: number): number {
    return partitionOfApp(app, this.#partitions.length);
  }

  end(partition: number): Position {
    return this.#partitions[partition]!.end;
  }

  async freshEnd(partition: number): Promise<Position> {
    await this.#measure(this.#partitions[partition]!);
    return this.end(partition);
  }

  positionBefore(partition: number, { bytes }: { bytes: number }): Position {
    const { end, bytesPerEntry } = this.#partitions[partition]!;
    return Math.max(0, end - Math.ceil(bytes / bytesPerEntry));
  }

  bytesBehind(applied: readonly Position[]): number {
    let bytes = 0;
    this.#partitions.forEach(({ end, bytesPerEntry }, partition) => {
      bytes += Math.max(0, end - applied[partition]!) * bytesPerEntry;
    });
    return Math.round(bytes);
  }

  /** The room in the fullest stream. */
  async freeBytes(): Promise<number> {
    for (const partition of this.#partitions) await this.#measure(partition);
    return Math.min(...this.#partitions.map(({ freeBytes }) => freeBytes));
  }

  append(entry: NewEntry): Promise<Position> {
    if (this.#isClosed) return Promise.reject(overloaded("The server is stopping."));
    // The client would keep entries in memory until it is connected again.
    if (!this.#isConnected) return Promise.reject(overloaded("The log cannot be reached at the moment."));
    const payload = payloadOf(entry);
    if (payload.length > this.#payloadBytesMax())
      return Promise.reject(new ApiError("bodyTooLarge", "The body is too large."));
    const { app } = entry.head;
    const room = this.#room.take(app, payload.length);
    if (room === "full") return Promise.reject(overloaded("The log cannot keep up with the incoming data."));
    if (room === "over_share") return Promise.reject(this.#overShare(app));
    return this.#append(entry, payload);
  }

  read(partition: number, from: Position): LogReader {
    const { stream } = this.#partitions[partition]!;
    return new StreamReader({ connection: this.#connection, manager: this.#manager, stream }, from);
  }

  /** Purges by sequence. Returns the number of entries. */
  async prune(partition: number, before: { applied: Position; writtenBeforeMs: number }): Promise<number> {
    const { stream } = this.#partitions[partition]!;
    const { state } = await this.#manager.streams.info(stream);
    if (state.messages === 0 || Date.parse(state.first_ts) >= before.writtenBeforeMs) return 0;
    let [from, kept] = [state.first_seq, Math.min(before.applied, state.last_seq) + 1];
    // Finds the first sequence to keep. One that is missing counts as young, so that nothing before it goes too early.
    while (from < kept) {
      const middle = Math.floor((from + kept) / 2);
      const message = await this.#manager.streams.getMessage(stream, { seq: middle });
      if (message && message.time.getTime() < before.writtenBeforeMs) from = middle + 1;
      else kept = middle;
    }
    if (from === state.first_seq) return 0;
    return (await this.#manager.streams.purge(stream, { seq: from })).purged;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // Entries on their way take as long as an acknowledgement at most.
    while (this.#room.used > 0) await sleep(CLOSE_LOOK_MS);
    this.#acknowledgements.tell();
    await this.#connection.close();
  }

  async #append({ head: { app, gzip = 0 } }: NewEntry, payload: Buffer): Promise<Position> {
    const number = this.partitionOf(app);
    const partition = this.#partitions[number]!;
    const startedMs = elapsedMs();
    try {
      const answer = await this.#connection.request(partition.subject, payload, { timeout: APPEND_MS });
      const sequence = storedAs(answer.json());
      // Everything before an acknowledged sequence is held by the same majority.
      partition.end = Math.max(partition.end, sequence);
      this.#writtenBytes += payload.length;
      this.#acknowledgements.add({
        partition: number,
        until: partition.end,
        app,
        plainBytes: payload.length + gzip,
        tookMs: elapsedMs() - startedMs,
      });
      this.#noteTrouble("");
      return sequence;
    } catch (error) {
      const reason = error instanceof Refused ? error.message : "The log does not answer at the moment.";
      this.#noteTrouble(messageOf(error));
      throw overloaded(reason);
    } finally {
      this.#room.give(app, payload.length);
    }
  }

  #overShare(app: number): ApiError {
    const { overShare = () => overloaded("This app has more data waiting for the log than an even share.") } =
      this.#options;
    return overShare(app);
  }

  /** Servers of a cluster may be set differently, so the one that is connected counts. */
  #payloadBytesMax(): number {
    return Math.min(this.#options.entryBytesMax, this.#connection.info?.max_payload ?? 0);
  }

  async #measure(partition: Partition): Promise<void> {
    const { end, ...measured } = shapeOf(await this.#manager.streams.info(partition.stream));
    Object.assign(partition, measured, { end: Math.max(partition.end, end) });
  }

  #noteTrouble(reason: string): void {
    if (reason === this.#trouble) return;
    if (reason === "") this.#options.log.info("The log takes entries again.");
    else this.#options.log.error({ reason }, "The log takes no entries.");
    this.#trouble = reason;
  }

  async #watchConnection(): Promise<void> {
    for await (const { type } of this.#connection.status()) {
      if (type === "disconnect" && this.#isConnected) this.#options.log.error("The connection to the log is lost.");
      if (type === "disconnect") this.#isConnected = false;
      if (type !== "reconnect") continue;
      this.#isConnected = true;
      this.#options.log.info("The log is connected again.");
    }
  }
}

type Opened = {
  connection: NatsConnection;
  manager: JetStreamManager;
  id: string;
  streams: readonly StreamInfo[];
};

function shapeOf({ config, state }: StreamInfo): Pick<Partition, "end" | "bytesPerEntry" | "freeBytes"> {
  return {
    end: state.last_seq,
    bytesPerEntry: state.messages === 0 ? 1 : state.bytes / state.messages,
    freeBytes: config.max_bytes - state.bytes,
  };
}

/** The server's word that it has not stored an entry. */
class Refused extends Error {}

type PublishAnswer = { seq?: number; error?: { description?: string } };

/** The sequence of a stored entry. */
function storedAs({ seq, error }: PublishAnswer): number {
  if (seq !== undefined && !error) return seq;
  const { description = "no reason" } = error ?? {};
  if (/maximum (bytes|messages)/.test(description))
    throw new Refused("The log is full; new data is refused until it is applied and pruned.");
  throw new Refused(`The log refuses entries: ${description}.`);
}

function overloaded(message: string): ApiError {
  return new ApiError("overloaded", message, { retryAfterS: RETRY_AFTER_S });
}
