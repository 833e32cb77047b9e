import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { JetStreamLog, type JetStreamLogOptions } from "../../../src/journal/jetstream/jetstream-log.ts";
import { MIB } from "../../../src/limits.ts";
import { createLog } from "../../../src/log.ts";
import { eventually } from "../../support/patience.ts";

/** As bin/nats.mjs has them. */
const PLACES = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];

type Place = { port: number; clusterPort: number; config: string };

export type Wish = Partial<JetStreamLogOptions & { name: string; partitions: number; bytesMax: number }>;

/** Real nats-servers on this machine, alone or as a cluster. */
export class Nats {
  readonly #dir = mkdtempSync(join(tmpdir(), "touchpoint-nats-"));
  readonly #places: Place[] = [];
  readonly #processes = new Map<number, ChildProcess>();
  readonly #ends: (() => Promise<void>)[] = [];

  static async start(count: 1 | 3, { maxPayload = 8 * MIB } = {}): Promise<Nats> {
    const nats = new Nats();
    const ports = await freePorts(2 * count);
    const clusterPorts = ports.slice(count);
    for (let index = 0; index < count; index += 1) {
      const place = {
        port: ports[index]!,
        clusterPort: clusterPorts[index]!,
        config: join(nats.#dir, `n${index}.conf`),
      };
      const routes = clusterPorts.map((port) => `"nats://127.0.0.1:${port}"`).join(", ");
      const cluster =
        count === 1 ? "" : `cluster { name: test, listen: "127.0.0.1:${place.clusterPort}", routes: [${routes}] }`;
      writeFileSync(
        place.config,
        `server_name: n${index}
        listen: "127.0.0.1:${place.port}"
        max_payload: ${maxPayload}
        jetstream { store_dir: "${join(nats.#dir, `n${index}`)}", max_file_store: 100GB, max_memory_store: 64MB }
        ${cluster}\n`,
      );
      nats.#places.push(place);
      nats.run(index);
    }
    return nats;
  }

  get servers(): string[] {
    return this.#places.map(({ port }) => `127.0.0.1:${port}`);
  }

  run(index: number): void {
    const binary = PLACES.find((path) => existsSync(path));
    if (!binary) throw new Error("The tests of the log need a nats-server: run `node bin/nats.mjs`.");
    const process = spawn(binary, ["-c", this.#places[index]!.config], { stdio: "ignore" });
    this.#processes.set(index, process);
  }

  async kill(index: number): Promise<void> {
    const process = this.#processes.get(index);
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.kill("SIGKILL");
    await ended;
  }

  /** A log at these servers, once they are able to make it. */
  async open(options: Wish = {}): Promise<JetStreamLog> {
    const log = await eventually(() => this.tryOpen(options));
    this.#ends.push(() => log.close());
    return log;
  }

  tryOpen({ name = "test", partitions = 1, bytesMax = 64 * MIB, ...options }: Wish = {}): Promise<JetStreamLog> {
    return JetStreamLog.open({
      address: { servers: this.servers, name, partitions, replicas: this.#places.length, bytesMax },
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

  async stop(): Promise<void> {
    await Promise.all(this.#ends.map((end) => end()));
    for (const index of this.#processes.keys()) await this.kill(index);
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("The port is unknown.");
    return address.port;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
