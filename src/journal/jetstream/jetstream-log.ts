import { setTimeout as sleep } from "node:timers/promises";
import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { elapsedMs } from "../../clock.ts";
import { ApiError, messageOf } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { type Loop, startLoop } from "../../loop.ts";
import { SharedRoom } from "../../shared-room.ts";
import { type NewEntry, payloadOf } from "../entry.ts";
import type { Appended, EntryLog, LogReader, Place, Position } from "../entry-log.ts";
import type { LogBus } from "../log-bus.ts";
import { Acknowledgements } from "./acknowledgements.ts";
import type { JetStreamAddress } from "./address.ts";
import { partitionOfApp } from "./app-partition.ts";
import { Leader } from "./leader.ts";
import { openLink } from "./link.ts";
import { NatsBus } from "./nats-bus.ts";
import { assertUsable, promiseOf, type ServerPromise } from "./nats-server.ts";
import { StreamReader } from "./stream-reader.ts";
import { announcementOf, openStreams, subjectOf } from "./streams.ts";

/** So that callers of a log without a majority are refused within two seconds. */
const APPEND_MS_MAX = 1_500;
/** How often the streams are measured. */
const MEASURE_MS = 1_000;
const RETRY_AFTER_S = 5;
const SILENT_MS_MAX = 5_000;
const UNREACHABLE = "The log cannot be reached; new data is refused until it is connected again.";
const CLOSE_LOOK_MS = 5;
/** How long a caller may wait for the end of a partition while its servers choose a leader. */
const FRESH_MS_MAX = 2_000;

export type JetStreamLogOptions = {
  address: JetStreamAddress;
  /** The longest payload of an entry. The servers must take it. */
  entryBytesMax: number;
  pendingBytesMax: number;
  /** How long an entry waits for its acknowledgement. */
  appendMsMax?: number;
  log: Log;
  /** The refusal of an app of which more than an even share waits for its acknowledgement. */
  overShare?: (app: number) => ApiError;
  onAppended?: (appended: Appended) => void;
  /** Called when a partition holds more than was acknowledged here: by others, or because an answer was lost. */
  onGrown?: (place: Place) => void;
};

/** What is known about a partition. */
type Partition = { stream: string; subject: string; leader: Leader; end: Position; bytesPerEntry: number };

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
  readonly bus: LogBus;
  readonly #options: JetStreamLogOptions;
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #partitions: Partition[];
  readonly #acknowledgements: Acknowledgements;
  readonly #measuring: Loop;
  /** Bytes that wait for their acknowledgement, by app. */
  readonly #room: SharedRoom<number>;
  #writtenBytes = 0;
  #isConnected = true;
  /** When a stream was last measured. */
  #heardAtMs = elapsedMs();
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
      subject: subjectOf(options.address.name, partition),
      leader: new Leader(leaderOf(info), elapsedMs()),
      ...shapeOf(info),
    }));
    this.#room = new SharedRoom(options.pendingBytesMax);
    this.#acknowledgements = new Acknowledgements((appended) => {
      options.onAppended?.(appended);
      this.#announce(appended);
    });
    this.promise = promiseOf({ version: connection.info?.version ?? "", replicas: options.address.replicas });
    this.bus = new NatsBus(connection, { name: options.address.name, isConnected: () => this.#isConnected });
    void this.#watchConnection();
    void this.#hearOthers();
    this.#measuring = startLoop({
      name: "log",
      log: options.log,
      idleMs: MEASURE_MS,
      failureMsMax: MEASURE_MS,
      turn: async () => {
        const measured = await Promise.allSettled([...this.#partitions.keys()].map((one) => this.#measure(one)));
        const failed = measured.find((one) => one.status === "rejected");
        if (failed) throw failed.reason;
        return "idle";
      },
    });
  }

  static async open(options: JetStreamLogOptions): Promise<JetStreamLog> {
    const { connection, manager } = await openLink(options.address);
    try {
      assertUsable(connection.info!, options);
      return new JetStreamLog(options, { connection, manager, ...(await openStreams(manager, options.address)) });
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

  get obstacle(): string | undefined {
    return this.#isConnected ? undefined : UNREACHABLE;
  }

  get trouble(): string | undefined {
    return elapsedMs() - this.#heardAtMs < SILENT_MS_MAX ? undefined : "The log has not answered for some seconds.";
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
    const untilMs = elapsedMs() + FRESH_MS_MAX;
    await this.#measure(partition);
    const { leader } = this.#partitions[partition]!;
    for (let newMs = leader.newForMs(elapsedMs()); newMs > 0; newMs = leader.newForMs(elapsedMs())) {
      if (elapsedMs() + newMs > untilMs) throw new Error("The log's servers have not settled yet.");
      await sleep(newMs);
      await this.#measure(partition);
    }
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

  append(entry: NewEntry): Promise<Position> {
    if (this.#isClosed) return Promise.reject(overloaded("The server is stopping."));
    // The client would keep entries in memory until it is connected again.
    if (!this.#isConnected) return Promise.reject(overloaded(UNREACHABLE));
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
    const measured = this.#measuring.stop();
    // Entries on their way take as long as an acknowledgement at most.
    while (this.#room.used > 0) await sleep(CLOSE_LOOK_MS);
    this.#acknowledgements.tell();
    await this.#connection.close();
    await measured;
  }

  async #append({ head: { app, gzip = 0 } }: NewEntry, payload: Buffer): Promise<Position> {
    const number = this.partitionOf(app);
    const partition = this.#partitions[number]!;
    const startedMs = elapsedMs();
    try {
      const { appendMsMax: timeout = APPEND_MS_MAX } = this.#options;
      const answer = await this.#connection.request(partition.subject, payload, { timeout });
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

  async #measure(number: number): Promise<void> {
    const partition = this.#partitions[number]!;
    const info = await this.#manager.streams.info(partition.stream);
    const { end, bytesPerEntry } = shapeOf(info);
    this.#heardAtMs = elapsedMs();
    partition.leader.heard(leaderOf(info), this.#heardAtMs);
    partition.bytesPerEntry = bytesPerEntry;
    if (end <= partition.end) return;
    partition.end = end;
    this.#options.onGrown?.({ partition: number, position: end });
  }

  /** Tells the other processes at once, which would measure the streams only a second later. */
  #announce({ partition, until }: Appended): void {
    if (this.#isConnected && !this.#isClosed)
      this.#connection.publish(announcementOf(this.#options.address.name, partition), String(until));
  }

  async #hearOthers(): Promise<void> {
    for await (const { subject, data } of this.#connection.subscribe(announcementOf(this.#options.address.name, "*"))) {
      const number = Number(subject.slice(subject.lastIndexOf(".") + 1));
      const end = Number(Buffer.from(data).toString());
      const partition = this.#partitions[number];
      if (!partition || !Number.isSafeInteger(end) || end <= partition.end) continue;
      partition.end = end;
      this.#options.onGrown?.({ partition: number, position: end });
    }
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
      if (type === "disconnect") {
        this.#isConnected = false;
        for (const { leader } of this.#partitions) leader.forget();
      }
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

/** The server that leads a stream: empty while there is none, and undefined where there is only one server to ask. */
function leaderOf({ cluster, config }: StreamInfo): string | undefined {
  return cluster && config.num_replicas > 1 ? (cluster.leader ?? "") : undefined;
}

function shapeOf({ state }: StreamInfo): Pick<Partition, "end" | "bytesPerEntry"> {
  return { end: state.last_seq, bytesPerEntry: state.messages === 0 ? 1 : state.bytes / state.messages };
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
