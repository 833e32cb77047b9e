import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type NatsOptions, NatsServers } from "../../../sim/chaos/nodes/nats-servers.ts";
import { UsageError } from "../../../src/errors.ts";
import { JetStreamLog, type JetStreamLogOptions } from "../../../src/journal/jetstream/jetstream-log.ts";
import { MIB } from "../../../src/limits.ts";
import { createLog } from "../../../src/log.ts";
import { eventually } from "../../support/patience.ts";

export type Wish = Partial<
  JetStreamLogOptions & { name: string; partitions: number; bytesMax: number; versions: "any" | "agreeing" }
>;

/** So many failures later, servers that have not found each other will not. */
const STRANDED_AFTER = 100;

/** Real nats-servers on this machine, with the logs and the connections that a test opens there. */
export class Nats extends NatsServers {
  readonly #ends: (() => Promise<void>)[] = [];
  /** Whether there may be something in the servers. */
  #isUsed = false;

  static async start(count: 1 | 3, options: NatsOptions = {}): Promise<Nats> {
    const nats = new Nats();
    await nats.begin(count, options);
    return nats;
  }

  /** A log at these servers, once they are able to make it. */
  async open(options: Wish = {}): Promise<JetStreamLog> {
    let failures = 0;
    const log = await eventually(() =>
      this.tryOpen(options).catch(async (error: Error) => {
        // A refusal is final; other errors pass once the servers have found each other.
        if (error instanceof UsageError) return error;
        failures += 1;
        const isStranded = failures % STRANDED_AFTER === 0 && /no suitable peers/.test(error.message);
        if (isStranded && !this.#isUsed) await this.beginAnew();
        throw error;
      }),
    );
    if (log instanceof UsageError) throw log;
    this.#isUsed = true;
    this.#ends.push(() => log.close());
    return log;
  }

  tryOpen(wish: Wish = {}): Promise<JetStreamLog> {
    const { name = "test", partitions = 1, bytesMax = 64 * MIB, versions = "any", ...options } = wish;
    const address = { servers: this.servers, name, partitions, replicas: this.servers.length, bytesMax };
    return JetStreamLog.open({
      address: versions === "any" ? { ...address, versions } : address,
      entryBytesMax: MIB,
      pendingBytesMax: 64 * MIB,
      log: createLog("silent"),
      ...options,
    });
  }

  /** Another client, which does what only an operator should. */
  async operator(): Promise<{ connection: NatsConnection; manager: JetStreamManager }> {
    return eventually(async () => {
      const connection = await connect({ servers: this.servers, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
      this.#ends.push(() => connection.close());
      return { connection, manager: await jetstreamManager(connection) };
    });
  }

  /** The number of the server that leads a stream. */
  async leaderOf(manager: JetStreamManager, stream: string): Promise<number> {
    return eventually(async () => {
      const { cluster } = await manager.streams.info(stream);
      if (!cluster?.leader) throw new Error(`${stream} has no leader.`);
      return Number(cluster.leader.slice(1));
    });
  }

  /** Whether a server has everything that the leader of a stream has. */
  async isCurrent(manager: JetStreamManager, { stream, index }: { stream: string; index: number }): Promise<boolean> {
    const { cluster } = await manager.streams.info(stream);
    return cluster?.replicas?.find(({ name }) => name === `n${index}`)?.current ?? false;
  }

  async stop(): Promise<void> {
    this.wakeAll();
    await Promise.all(this.#ends.map((end) => end()));
    await this.end();
  }
}
