import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../../clock.ts";
import { messageOf, UsageError } from "../../errors.ts";
import type { LogSource, Position } from "../entry-log.ts";
import type { JetStreamAddress } from "./address.ts";
import { type Link, openLink } from "./link.ts";
import { StreamReader } from "./stream-reader.ts";
import { findStreams, openStreams, streamOf } from "./streams.ts";

/** How long a start waits for servers that are starting too: a cluster first has to elect leaders. */
const WAIT_MS = 30_000;
const TRY_AGAIN_MS = 500;

/** The id of a log and the number of its partitions. A new one is made. */
export async function readLogShape(address: JetStreamAddress): Promise<{ id: string; partitions: number }> {
  for (const startedMs = elapsedMs(); ; await sleep(TRY_AGAIN_MS)) {
    try {
      return await askShape(address);
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (elapsedMs() - startedMs > WAIT_MS)
        throw new UsageError(`The log at ${address.servers.join(", ")} cannot be opened: ${messageOf(error)}`);
    }
  }
}

async function askShape(address: JetStreamAddress): Promise<{ id: string; partitions: number }> {
  const { connection, manager } = await openLink(address);
  try {
    const { id, streams } = await openStreams(manager, address);
    return { id, partitions: streams.length };
  } finally {
    await connection.close();
  }
}

/** The partitions of a log for a thread that only reads, over a connection of its own. */
export async function openStreamSources(
  { address, id, partitions }: { address: JetStreamAddress; id: string; partitions: number },
  end: (partition: number) => Position,
): Promise<{ sources: readonly LogSource[]; close(): Promise<void> }> {
  const link = await openLink(address);
  const sources = Array.from({ length: partitions }, (_, partition) =>
    streamSource(link, { id, partition, stream: streamOf(address.name, partition), end: () => end(partition) }),
  );
  return { sources, close: () => link.connection.close() };
}

/** A stream as it was found. Its entries lie between `first` and `source.end()`. */
export type FoundStream = { stream: string; first: Position; entries: number; bytes: number; source: LogSource };

export type FoundLog = { id: string; streams: readonly FoundStream[]; close(): Promise<void> };

export async function findLog(address: JetStreamAddress): Promise<FoundLog> {
  const found = await lookForLog(address);
  if (!found) throw new UsageError(`There is no log ${address.name} at ${address.servers.join(", ")} yet.`);
  return found;
}

/** An existing log, up to where it ends now, or undefined. Nothing is made or changed. */
export async function lookForLog(address: JetStreamAddress): Promise<FoundLog | undefined> {
  const link = await openLink(address).catch((error: unknown) => {
    throw new UsageError(`No nats-server answers at ${address.servers.join(", ")}: ${messageOf(error)}`);
  });
  try {
    const found = await findStreams(link.manager, address.name);
    if (!found) {
      await link.connection.close();
      return undefined;
    }
    const { id } = found;
    const streams = found.streams.map(({ config, state }, partition) => ({
      stream: config.name,
      first: Math.max(0, state.first_seq - 1),
      entries: state.messages,
      bytes: state.bytes,
      source: streamSource(link, { id, partition, stream: config.name, end: () => state.last_seq }),
    }));
    return { id, streams, close: () => link.connection.close() };
  } catch (error) {
    await link.connection.close();
    throw error;
  }
}

function streamSource(
  link: Link,
  { id, partition, stream, end }: { id: string; partition: number; stream: string; end: () => Position },
): LogSource {
  return { journalId: id, partition, end, read: (from) => new StreamReader({ ...link, stream }, from) };
}
