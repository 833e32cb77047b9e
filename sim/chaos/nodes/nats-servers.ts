import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MIB } from "../../../src/limits.ts";

/** As bin/nats.mjs has them: the newer one first. */
export const NATS_PLACES = ["/usr/local/bin/nats-server", "/usr/sbin/nats-server", "/usr/bin/nats-server"];

/** `settings`: more lines for the settings of each. */
export type NatsOptions = { maxPayload?: number; settings?: string };

/** Real nats-servers on this machine, alone or as a cluster. */
export class NatsServers {
  readonly dir = mkdtempSync(join(tmpdir(), "touchpoint-nats-"));
  readonly #ports: number[] = [];
  readonly #processes = new Map<number, ChildProcess>();

  /** Starts the servers n0, n1 and so on. */
  async begin(count: 1 | 3, { maxPayload = 8 * MIB, settings = "" }: NatsOptions = {}): Promise<void> {
    const ports = await freePorts(2 * count);
    const clusterPorts = ports.splice(count);
    const routes = clusterPorts.map((port) => `"nats://127.0.0.1:${port}"`).join(", ");
    for (const [index, port] of ports.entries()) {
      const cluster =
        count === 1 ? "" : `cluster { name: test, listen: "127.0.0.1:${clusterPorts[index]}", routes: [${routes}] }`;
      writeFileSync(
        this.#configOf(index),
        `server_name: n${index}
        listen: "127.0.0.1:${port}"
        max_payload: ${maxPayload}
        jetstream { store_dir: "${this.#storeOf(index)}", max_file_store: 100GB, max_memory_store: 64MB }
        ${cluster}
        ${settings}\n`,
      );
      this.#ports.push(port);
      this.run(index);
    }
  }

  get servers(): string[] {
    return this.#ports.map((port) => `127.0.0.1:${port}`);
  }

  run(index: number): void {
    const binary = NATS_PLACES.find((path) => existsSync(path));
    if (!binary) throw new Error("A nats-server is needed: run `node bin/nats.mjs`.");
    this.#processes.set(index, spawn(binary, ["-c", this.#configOf(index)], { stdio: "ignore" }));
  }

  signal(index: number, name: "SIGSTOP" | "SIGCONT"): void {
    this.#processes.get(index)?.kill(name);
  }

  wakeAll(): void {
    for (const index of this.#processes.keys()) this.signal(index, "SIGCONT");
  }

  async kill(index: number): Promise<void> {
    const process = this.#processes.get(index);
    if (!process || process.exitCode !== null || process.signalCode !== null) return;
    const ended = new Promise((resolve) => process.once("exit", resolve));
    process.kill("SIGKILL");
    await ended;
  }

  /**
   * Starts all of them again without anything in them: servers that start slowly may agree on a cluster without one of
   * them, and never take it in.
   */
  async beginAnew(): Promise<void> {
    const indexes = [...this.#processes.keys()];
    for (const index of indexes) await this.kill(index);
    for (const index of indexes) rmSync(this.#storeOf(index), { recursive: true, force: true });
    for (const index of indexes) this.run(index);
  }

  async end(): Promise<void> {
    this.wakeAll();
    for (const index of this.#processes.keys()) await this.kill(index);
    rmSync(this.dir, { recursive: true, force: true });
  }

  #storeOf(index: number): string {
    return join(this.dir, `n${index}`);
  }

  #configOf(index: number): string {
    return join(this.dir, `n${index}.conf`);
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
