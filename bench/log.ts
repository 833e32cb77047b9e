import { mkdirSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../src/clock.ts";
import { DiskThread } from "../src/journal/disk-thread.ts";
import type { NewEntry } from "../src/journal/entry.ts";
import type { EntryLog } from "../src/journal/entry-log.ts";
import { JetStreamLog } from "../src/journal/jetstream/jetstream-log.ts";
import { Journal } from "../src/journal/journal.ts";
import { GIB, MIB } from "../src/limits.ts";
import { createLog } from "../src/log.ts";
import type { Setup } from "./children.ts";
import { CONNECTIONS, ROUNDS } from "./comparison.ts";
import { type Figure, type Measured, median } from "./figures.ts";
import { findNats, startNats } from "./nats-servers.ts";

/** About what a request of 20 events is. */
const BODY_BYTES = 6_000;
const OPEN_MS_MAX = 60_000;
const TRY_AGAIN_MS = 200;

const SHAPES = [
  { replicas: 1, what: "entries to JetStream, one nats-server, not synced" },
  // Machines of their own would share neither cores nor disk, and add a network.
  { replicas: 3, what: "entries to JetStream, three nats-servers on this machine, not synced" },
] as const;

/** Entries that a log acknowledges per second, beside the journal in files. Without a nats-server nothing is measured. */
export async function measureLog({ folder, sizes }: Setup): Promise<Measured> {
  const binary = findNats();
  if (binary === undefined) {
    process.stderr.write("There is no nats-server (Debian: apt install nats-server).\n");
    return { figures: [], costs: [] };
  }
  const figures: Figure[] = [];
  for (const { replicas, what } of SHAPES) {
    const own = join(folder, `log-${replicas}`);
    mkdirSync(own);
    const nats = startNats(binary, { folder: own, ports: await portsFor(replicas) });
    const options = { log: createLog("error"), pendingBytesMax: 64 * MIB };
    const files = await Journal.open(join(own, "files"), { ...options, disk: new DiskThread() });
    const streams = await openStreams({ ...options, servers: nats.servers, replicas });
    const ratios = await compareLogs({ ours: streams, bare: files }, sizes);
    figures.push({
      name: `log_r${replicas}`,
      what,
      unit: "entries/s",
      target: "",
      beside: "the journal in files",
      ...ratios,
    });
    await streams.close();
    await files.close();
    nats.stop();
  }
  return { figures, costs: [] };
}

/** The sides take turns, so that a slow moment hits both; both figures are from the round with the median ratio. */
async function compareLogs({ ours, bare }: { ours: EntryLog; bare: EntryLog }, sizes: Setup["sizes"]) {
  for (const log of [bare, ours]) await appendedPerSecond(log, sizes.warmUpSeconds);
  const rounds: { ours: number; bare: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const seconds = sizes.seconds / ROUNDS;
    rounds.push({ bare: await appendedPerSecond(bare, seconds), ours: await appendedPerSecond(ours, seconds) });
  }
  const ratios = rounds.map((round) => round.ours / round.bare);
  const spread = { least: Math.min(...ratios), most: Math.max(...ratios) };
  return { ...rounds[ratios.indexOf(median(ratios))]!, spread };
}

async function appendedPerSecond(log: EntryLog, seconds: number): Promise<number> {
  const entry: NewEntry = {
    head: { kind: "collect", app: 1, client: "c", at: 1, ip: "", ua: "", registered: "yes" },
    body: Buffer.alloc(BODY_BYTES, "x"),
  };
  const startedMs = elapsedMs();
  let appended = 0;
  const appendOn = async () => {
    for (; elapsedMs() - startedMs < seconds * 1000; appended += 1) await log.append(entry);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, appendOn));
  return (appended * 1000) / (elapsedMs() - startedMs);
}

type Wanted = { servers: string[]; replicas: number; log: ReturnType<typeof createLog>; pendingBytesMax: number };

/** The servers have to find each other first. */
async function openStreams({ servers, replicas, ...options }: Wanted): Promise<JetStreamLog> {
  const address = { servers, name: "bench", partitions: 1, replicas, bytesMax: 64 * GIB, versions: "any" } as const;
  for (const startedMs = elapsedMs(); ; await sleep(TRY_AGAIN_MS)) {
    try {
      return await JetStreamLog.open({ ...options, address, entryBytesMax: MIB, appendMsMax: 30_000 });
    } catch (error) {
      if (elapsedMs() - startedMs > OPEN_MS_MAX) throw error;
    }
  }
}

/** All are held at once, so that none is given twice. */
async function portsFor(count: number): Promise<{ client: number; cluster: number }[]> {
  const servers = await Promise.all(Array.from({ length: 2 * count }, () => listening()));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return Array.from({ length: count }, (_, index) => ({ client: ports[2 * index]!, cluster: ports[2 * index + 1]! }));
}

async function listening(): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}
