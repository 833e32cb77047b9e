import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { JournalAddress } from "../apply/sources.ts";
import { elapsedMs } from "../clock.ts";
import type { Config } from "../config.ts";
import { readCursor } from "../db/journal-cursor.ts";
import { type ApiError, UsageError } from "../errors.ts";
import { DiskThread } from "../journal/disk-thread.ts";
import type { Appended, EntryLog, Place, Position } from "../journal/entry-log.ts";
import type { JetStreamAddress } from "../journal/jetstream/address.ts";
import { Journal } from "../journal/journal.ts";
import { readId, readOrMakeId } from "../journal/journal-id.ts";
import type { LogBus } from "../journal/log-bus.ts";
import { listSegments } from "../journal/segment.ts";
import { KIB, LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import { JournalFiles } from "./journal-files.ts";

/** Room for the head of an entry: addresses, user agent, verdicts. */
const HEAD_BYTES = 256 * KIB;

export type OpenedJournal = {
  journal: EntryLog;
  address: JournalAddress;
  /** Undefined when the journal is not in files. */
  files: JournalFiles | undefined;
  /** What an acknowledgement means, where that depends on other servers. */
  promise: string | undefined;
  /** Between the processes of a shared log. */
  bus: LogBus | undefined;
};

export type JournalEvents = {
  log: Log;
  overShare: (app: number) => ApiError;
  onAppended: (appended: Appended) => void;
  /** A partition holds more than was acknowledged here. */
  onGrown: (place: Place) => void;
};

const folderOf = ({ dataDir }: Pick<Config, "dataDir">) => join(dataDir, "journal");

/** The journal that the settings name, before it is opened. A new one is made. `nodeId`: the id of DATA_DIR. */
export async function findJournal(config: Config): Promise<{ id: string; partitions: number; nodeId: string }> {
  if (!config.jetstream) {
    const id = await readOrMakeId(folderOf(config));
    return { id, partitions: 1, nodeId: id };
  }
  const { readLogShape } = await import("../journal/jetstream/stream-sources.ts");
  return { ...(await readLogShape(config.jetstream)), nodeId: await readOrMakeId(join(config.dataDir, "node")) };
}

export async function openJournal(config: Config, events: JournalEvents): Promise<OpenedJournal> {
  if (config.jetstream) return openStreams(config, config.jetstream, events);
  const journal = await Journal.open(folderOf(config), {
    ...events,
    disk: new DiskThread(),
    pendingBytesMax: config.journalPendingBytesMax,
  });
  const address = { kind: "file", id: journal.id, dir: journal.dir } as const;
  return { journal, address, files: new JournalFiles(journal, events.log), promise: undefined, bus: undefined };
}

async function openStreams(config: Config, address: JetStreamAddress, events: JournalEvents): Promise<OpenedJournal> {
  const { JetStreamLog } = await import("../journal/jetstream/jetstream-log.ts");
  const journal = await JetStreamLog.open({
    ...events,
    address,
    entryBytesMax: Math.max(config.bodyBytesMax, LIMITS.historyBytes) + HEAD_BYTES,
    pendingBytesMax: config.journalPendingBytesMax,
  });
  const { id, partitions, promise } = journal;
  events.log.info(promise.sentence);
  return {
    journal,
    address: { kind: "jetstream", id, partitions, address },
    files: undefined,
    promise: promise.sentence,
    bus: journal.bus,
  };
}

/** Refuses a log that is an older copy: entries appended where the cursor has been would count as applied already. */
export function assertNotOlder(journal: Pick<EntryLog, "partitions" | "end">, cursors: readonly Position[]): void {
  const older = olderPartitions(journal, cursors)[0];
  if (older === undefined) return;
  throw new UsageError(
    `Partition ${older} of the log was applied up to ${cursors[older]}, but ends before it: LOG_URL leads to an older copy.`,
  );
}

function olderPartitions(journal: Pick<EntryLog, "partitions" | "end">, cursors: readonly Position[]): number[] {
  const isOlder = (partition: number) =>
    partition >= journal.partitions || cursors[partition]! > journal.end(partition);
  return [...cursors.keys()].filter(isOlder);
}

/** A server that has just become the leader of a partition may not know its last entries yet. */
const LEADER_MS = 10_000;
const ASK_AGAIN_MS = 200;

/** Asks for the ends of the log until none is before its cursor. Refuses an older copy. */
export async function waitForEnds(
  journal: Pick<EntryLog, "partitions" | "end" | "freshEnd">,
  cursors: readonly Position[],
  patienceMs = LEADER_MS,
): Promise<void> {
  const startedMs = elapsedMs();
  await Promise.all(Array.from({ length: journal.partitions }, (_, partition) => journal.freshEnd(partition)));
  let older = olderPartitions(journal, cursors);
  while (older.length > 0 && elapsedMs() - startedMs < patienceMs) {
    await sleep(ASK_AGAIN_MS);
    await Promise.all(older.filter((one) => one < journal.partitions).map((one) => journal.freshEnd(one)));
    older = olderPartitions(journal, cursors);
  }
  assertNotOlder(journal, cursors);
}

/** Refuses to leave a journal in files behind that is not applied to its end. */
export async function assertFilesApplied(pool: pg.Pool, config: Pick<Config, "dataDir">): Promise<void> {
  const dir = folderOf(config);
  const journalId = await readId(dir);
  if (journalId === undefined) return;
  const last = (await listSegments(dir)).at(-1);
  const end = last ? last.from + last.bytes : 0;
  if (end <= (await readCursor(pool, { journalId, partition: 0 }))) return;
  throw new UsageError(
    `${dir} holds entries that are not applied yet: start without LOG_URL until \`settle\` is through, then stop and set it.`,
  );
}
