import { setTimeout as sleep } from "node:timers/promises";
import { elapsedMs } from "../../clock.ts";
import { messageOf, UsageError } from "../../errors.ts";
import type { LogSource, Position } from "../entry-log.ts";
import type { JetStreamAddress } from "./address.ts";
import { openLink } from "./link.ts";
import { StreamReader } from "./stream-reader.ts";
import { openStreams, streamOf } from "./streams.ts";

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
  const sources = Array.from({ length: partitions }, (_, partition) => ({
    journalId: id,
    partition,
    end: () => end(partition),
    read: (from: Position) => new StreamReader({ ...link, stream: streamOf(address.name, partition) }, from),
  }));
  return { sources, close: () => link.connection.close() };
}
