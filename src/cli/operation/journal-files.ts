import { join } from "node:path";
import type { Config } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { poolDisk } from "../../journal/disk.ts";
import { Journal } from "../../journal/journal.ts";
import { readId } from "../../journal/journal-id.ts";
import { fileSource } from "../../journal/reader.ts";
import { createLog } from "../../log.ts";
import type { WholeJournal } from "./replay-losses.ts";

/** The journal in files of DATA_DIR. Never makes one. */
export async function filesOf(config: Pick<Config, "dataDir">): Promise<{ dir: string; id: string }> {
  const dir = join(config.dataDir, "journal");
  const id = await readId(dir);
  if (id === undefined) throw new UsageError(`There is no journal in ${config.dataDir} yet.`);
  return { dir, id };
}

/** The journal that the settings name, which no process may be writing. `files`: undefined when it is in JetStream. */
export type StoppedJournal = {
  id: string;
  files: { dir: string } | undefined;
  /** All of it. Opening files cuts off a record that a crash left half-written. */
  open(): Promise<WholeJournal>;
  close(): Promise<void>;
};

export async function findStopped(config: Config): Promise<StoppedJournal> {
  if (config.jetstream) {
    const { findLog } = await import("../../journal/jetstream/stream-sources.ts");
    const { jetstream } = config;
    const first = await findLog(jetstream);
    const closes = [first.close];
    const open = async (): Promise<WholeJournal> => {
      // Found again: a process may have appended until the apply lock was taken.
      const { id, streams, close } = await findLog(jetstream);
      closes.push(close);
      return { id, unit: "entries", sources: streams.map(({ source }) => source) };
    };
    return {
      id: first.id,
      files: undefined,
      open,
      close: async () => void (await Promise.all(closes.map((end) => end()))),
    };
  }
  const { dir, id } = await filesOf(config);
  const open = async (): Promise<WholeJournal> => {
    const durable = await recoveredEnd(dir, config);
    return { id, unit: "bytes", sources: [fileSource({ id, dir }, () => durable)] };
  };
  return { id, files: { dir }, open, close: async () => {} };
}

async function recoveredEnd(dir: string, config: Config): Promise<number> {
  const journal = await Journal.open(dir, {
    log: createLog("error"),
    disk: poolDisk,
    pendingBytesMax: config.journalPendingBytesMax,
  });
  await journal.close();
  return journal.durable;
}
