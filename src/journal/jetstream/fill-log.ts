import type { NatsConnection } from "@nats-io/transport-node";
import { MIB } from "../../limits.ts";
import type { JetStreamAddress } from "./address.ts";
import { partitionOfApp } from "./app-partition.ts";
import { openLink } from "./link.ts";
import { assertUsable } from "./nats-server.ts";
import { openStreams, subjectOf } from "./streams.ts";

/** What is on its way at once. */
const MESSAGES_AT_ONCE = 500;
const BYTES_AT_ONCE = 8 * MIB;
const ACKNOWLEDGED_MS_MAX = 10_000;

/** An entry as it was in another log. */
export type MovedEntry = { app: number; payload: Buffer };

/**
 * Makes a log and puts entries into it, which stay in their order within a partition. Nobody else may be writing. Returns
 * their number. After a failure the log holds a part of them and is of no use.
 */
export async function fillLog(address: JetStreamAddress, entries: AsyncIterable<MovedEntry>): Promise<number> {
  const { connection, manager } = await openLink(address);
  try {
    assertUsable(connection.info!, { entryBytesMax: 0, address });
    const { streams } = await openStreams(manager, address);
    const ends = streams.map(({ state }) => state.last_seq);
    for await (const group of groupsOf(entries)) await send({ connection, name: address.name, ends }, group);
    return ends.reduce((sum, end) => sum + end, 0);
  } finally {
    await connection.close();
  }
}

async function send(
  { connection, name, ends }: { connection: NatsConnection; name: string; ends: number[] },
  group: readonly MovedEntry[],
): Promise<void> {
  const sent = group.map(async ({ app, payload }) => {
    const partition = partitionOfApp(app, ends.length);
    const sequence = ends[partition]! + 1;
    ends[partition] = sequence;
    const answer = await connection.request(subjectOf(name, partition), payload, { timeout: ACKNOWLEDGED_MS_MAX });
    const { seq, error } = answer.json<{ seq?: number; error?: { description?: string } }>();
    if (seq !== sequence)
      throw new Error(`The log ${name} does not take entries: ${error?.description ?? "somebody else writes it"}.`);
  });
  // All of them, so that none is under way when the first failure is told.
  for (const outcome of await Promise.allSettled(sent)) if (outcome.status === "rejected") throw outcome.reason;
}

async function* groupsOf(entries: AsyncIterable<MovedEntry>): AsyncGenerator<MovedEntry[]> {
  let [group, bytes]: [MovedEntry[], number] = [[], 0];
  for await (const entry of entries) {
    group.push(entry);
    bytes += entry.payload.length;
    if (group.length < MESSAGES_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield group;
    [group, bytes] = [[], 0];
  }
  yield group;
}
