import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { UsageError } from "../errors.ts";
import type { JetStreamAddress } from "../journal/jetstream/address.ts";
import { listSegments } from "../journal/segment.ts";
import type { SavedJournal } from "./manifest.ts";
import { type JournalPlan, placeJournal, planJournal } from "./restored-journal.ts";
import { type LogPlan, placeInLog, planLog } from "./restored-log.ts";
import type { Aside } from "./target.ts";

/** Where the entries of a backup go: to the journal in DATA_DIR, or to the log that LOG_URL names. */
export type EntryPlan =
  | { kind: "files"; journalDir: string; plan: JournalPlan }
  | { kind: "log"; address: JetStreamAddress; plan: LogPlan; files: "none" | "aside" };

export type PlacedEntries = {
  journal: "restored" | "kept";
  /** How far the journal reaches in files; a server applies it from the backup's cursor on. */
  until: number;
  /** In a log, how many of its entries the next start applies. */
  waiting?: number;
};

type Saved = { dir: string; saved: SavedJournal };

export async function planEntries(
  { dataDir, jetstream: address }: Pick<Config, "dataDir" | "jetstream">,
  { dir, saved, existing }: Saved & { existing: "refuse" | "replace" },
): Promise<EntryPlan> {
  const journalDir = join(dataDir, "journal");
  if (address) {
    const files = (await isUsed(journalDir)) ? "aside" : "none";
    if (files === "aside" && existing === "refuse")
      throw new UsageError(
        `${journalDir} holds a journal in files, of which the log would know nothing. Nothing was changed. Restore into another DATA_DIR, or add --replace to put that journal aside.`,
      );
    return { kind: "log", address, plan: await planLog(address, saved), files };
  }
  return { kind: "files", journalDir, plan: await planJournal({ dir, journalDir }, saved, existing) };
}

export async function placeEntries(
  entries: EntryPlan,
  { dir, saved, aside }: Saved & { aside: Aside },
): Promise<PlacedEntries> {
  const { until } = saved;
  if (entries.kind === "log") {
    const { plan, address, files } = entries;
    if (files === "aside") aside.put("journal");
    if (plan.existing === "kept") return { journal: "kept", until, waiting: plan.waiting };
    return { journal: "restored", until, waiting: await placeInLog(address, dir, saved) };
  }
  const { plan, journalDir } = entries;
  if (plan.existing === "aside") aside.put("journal");
  await placeJournal({ dir, journalDir }, saved, plan);
  return { journal: plan.existing === "kept" ? "kept" : "restored", until: plan.until };
}

async function isUsed(journalDir: string): Promise<boolean> {
  if (!existsSync(journalDir)) return false;
  return (await listSegments(journalDir)).some(({ from, bytes }) => from + bytes > 0);
}
