import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trackChild } from "./children.ts";

const PLACES = ["/usr/local/bin/nats-server", "/usr/sbin/nats-server", "/usr/bin/nats-server"];

export function findNats(): string | undefined {
  return PLACES.find((path) => existsSync(path));
}

/** Starts nats-servers on this machine, alone or as a cluster. Returns their addresses. */
export function startNats(
  binary: string,
  { folder, ports }: { folder: string; ports: readonly { client: number; cluster: number }[] },
): { servers: string[]; stop(): void } {
  const routes = ports.map(({ cluster }) => `"nats://127.0.0.1:${cluster}"`).join(", ");
  const processes = ports.map(({ client, cluster }, index): ChildProcess => {
    const name = `nats-${ports.length}-${index}`;
    const path = join(folder, `${name}.conf`);
    const group = `cluster { name: bench, listen: "127.0.0.1:${cluster}", routes: [${routes}] }`;
    writeFileSync(
      path,
      `server_name: ${name}
      listen: "127.0.0.1:${client}"
      max_payload: 8388608
      jetstream { store_dir: "${join(folder, name)}", max_file_store: 100GB }
      ${ports.length > 1 ? group : ""}\n`,
    );
    return trackChild(spawn(binary, ["-c", path], { stdio: "ignore" }));
  });
  const stop = () => {
    for (const child of processes) child.kill("SIGKILL");
  };
  return { servers: ports.map(({ client }) => `127.0.0.1:${client}`), stop };
}
