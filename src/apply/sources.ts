import type { EntryLog, LogSource, Position } from "../journal/entry-log.ts";
import type { JetStreamAddress } from "../journal/jetstream/address.ts";
import { partitionOfApp } from "../journal/jetstream/app-partition.ts";
import { fileSource } from "../journal/reader.ts";

/** How another thread finds the journal: plain data. */
export type JournalAddress =
  | { kind: "file"; id: string; dir: string }
  | { kind: "jetstream"; id: string; partitions: number; address: JetStreamAddress };

export type OpenedSources = { sources: readonly LogSource[]; close(): Promise<void> };

/** Opens all partitions for reading, each up to `end`. */
export async function openSources(
  journal: JournalAddress,
  end: (partition: number) => Position,
): Promise<OpenedSources> {
  if (journal.kind === "file") return { sources: [fileSource(journal, () => end(0))], close: async () => {} };
  // Loaded only where it is used: the client of NATS would lengthen every start.
  const { openStreamSources } = await import("../journal/jetstream/stream-sources.ts");
  return openStreamSources(journal, end);
}

/** Which partition of a journal holds the entries of an app. */
export function partitionOfIn(journal: JournalAddress): EntryLog["partitionOf"] {
  return journal.kind === "file" ? () => 0 : (app) => partitionOfApp(app, journal.partitions);
}
