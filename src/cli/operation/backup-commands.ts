import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Manifest } from "../../backup/manifest.ts";
import { type Restored, type RestoreWish, restoreBackup } from "../../backup/restore.ts";
import { withSource } from "../../backup/source.ts";
import { takeBackup } from "../../backup/take.ts";
import { type Trial, tryBackup } from "../../backup/trial.ts";
import { elapsedMs, systemClock } from "../../clock.ts";
import { type Config, configFromEnvironment } from "../../config.ts";
import { createLog } from "../../log.ts";
import { commandLine } from "../desk.ts";
import { ProgressBar, print } from "../output.ts";
import { readSecretOption } from "../secret-option.ts";

type Json = { json?: boolean };
type TakeOptions = { passphrase?: string; verify?: boolean; scratch: string } & Json;
type RestoreOptions = {
  passphrase?: string;
  replace?: boolean;
  postbacks: RestoreWish["postbacks"];
  trial?: boolean;
  scratch: string;
} & Json;

const log = createLog("error");
const PASSPHRASE = "at least 12 characters, as @file or - for standard input; by default BACKUP_PASSPHRASE";
const SCRATCH = ["--scratch <folder>", "where the trial restore makes its database", tmpdir()] as const;

export function backupCommands(program: Command): void {
  program
    .command("backup")
    .description("Back up tables, journal and the key's fingerprint into a new folder; the server may run or not")
    .argument("<dir>", "a folder that does not exist or is empty")
    .option("--passphrase <text>", `put the key into the backup too, under this passphrase: ${PASSPHRASE}`)
    .option("--verify", "restore it into a scratch database, compare every row and the ledgers, and remove that again")
    .option(...SCRATCH)
    .option("--json", "print JSON")
    .action((dir: string, options: TakeOptions) => take(resolve(dir), options));

  program
    .command("restore")
    .description("Restore a backup into an empty DATA_DIR or database, or beside the journal that continues it")
    .argument("<dir>", "the backup's folder")
    .option("--passphrase <text>", `opens the key in the backup where DATA_DIR has none: ${PASSPHRASE}`)
    .option("--replace", "put an embedded database, journal or key that is there aside, into DATA_DIR/before-restore-…")
    .addOption(
      new Option(
        "--postbacks <state>",
        "whether postbacks may have been sent since the backup (unsure) or none was (unsent)",
      )
        .choices(["unsure", "unsent"])
        .default("unsure"),
    )
    .option("--trial", "only restore it into a scratch database, compare, and remove that again")
    .option(...SCRATCH)
    .option("--json", "print JSON")
    .action((dir: string, options: RestoreOptions) =>
      options.trial ? tryOut(resolve(dir), options) : restore(resolve(dir), options),
    );
}

async function take(dir: string, options: TakeOptions): Promise<void> {
  const config = configFromEnvironment();
  const startedMs = elapsedMs();
  const bars = barsOf({ tables: "Tables   ", lake: "Lake     ", journal: "Journal  " });
  const passphrase = passphraseOf(config, options);
  const manifest = await withSource(config, log, (connection) =>
    takeBackup(
      { config, connection, log, clock: systemClock },
      { dir, passphrase, by: commandLine(), onProgress: bars },
    ),
  );
  const trial = options.verify ? await trialOf(dir, options) : undefined;
  const result = { dir, ...summaryOf(manifest), seconds: secondsSince(startedMs), ...(trial && { verified: trial }) };
  print(result, options, () =>
    [
      `${result.rows} rows of ${result.tables} tables and ${result.journal_bytes} bytes of journal are in ${dir} (${manifest.bytes} bytes).`,
      reachOf(manifest.journal),
      manifest.key.box
        ? "The key is in it, under the passphrase."
        : `The key is not in it: keep a copy elsewhere (fingerprint ${manifest.key.fingerprint}).`,
      ...manifest.journal.others.map(
        ({ journalId, position }) =>
          `The journal ${journalId} of another DATA_DIR is applied up to ${position}; its files are not in this backup.`,
      ),
      ...(trial ? [sentenceOf(trial)] : []),
    ].join("\n"),
  );
}

function reachOf({ cursor, until, log }: Manifest["journal"]): string {
  if (!log) return `The tables have the journal up to ${cursor}, and the copy reaches to ${until}.`;
  return `The tables have the partitions of the log ${log.id} up to ${log.cursors.join(", ")}, and the copy reaches to ${log.ends.join(", ")}.`;
}

async function restore(dir: string, options: RestoreOptions): Promise<void> {
  const config = configFromEnvironment();
  const startedMs = elapsedMs();
  const restored = await restoreBackup(
    { config, log, clock: systemClock },
    {
      dir,
      passphrase: passphraseOf(config, options),
      existing: options.replace ? "replace" : "refuse",
      postbacks: options.postbacks,
      by: commandLine(),
      onProgress: barsOf({ check: "Checking ", load: "Restoring" }),
    },
  );
  const { manifest, journal, until, waiting, doubted, foreign } = restored;
  const result = {
    dir,
    ...summaryOf(manifest),
    journal,
    journal_until: until,
    ...(waiting !== undefined && { log_entries: waiting }),
    postbacks_in_doubt: doubted,
    not_restored: foreign,
    seconds: secondsSince(startedMs),
  };
  print(result, options, () => sentencesOf(restored, options).join("\n"));
}

function sentencesOf(restored: Restored, options: RestoreOptions): string[] {
  const { manifest, doubted, foreign } = restored;
  const { rows, tables } = summaryOf(manifest);
  return [
    `${rows} rows of ${tables} tables are restored, and the ledgers equal those of the backup of ${new Date(manifest.began_at_ms).toISOString()}.`,
    ...entriesOf(restored),
    ...(options.postbacks === "unsure"
      ? [
          `${doubted} waiting postbacks, and those of the journal, may have been sent since: they go only to platforms that recognise repeats, the others fail as "may have counted".`,
        ]
      : []),
    ...(foreign.length > 0 ? [`Not restored, because no migration makes them: ${foreign.join(", ")}.`] : []),
  ];
}

/** What becomes of the entries that the tables of the backup do not have. */
function entriesOf({ manifest, journal, until, waiting }: Restored): string[] {
  const { cursor, log } = manifest.journal;
  const kept = journal === "kept" ? "The journal that was there continues the backup: the" : "The";
  if (waiting !== undefined) return [`${kept} next start applies ${waiting} entries of the log that LOG_URL names.`];
  const applied = `${kept} next start applies the journal from ${cursor} to ${until}.`;
  if (!log) return [applied];
  return [
    applied,
    `The backup was taken from the log ${log.id}: what it has acknowledged since comes back only with LOG_URL.`,
  ];
}

async function tryOut(dir: string, options: RestoreOptions): Promise<void> {
  const trial = await trialOf(dir, options);
  print({ dir, verified: trial }, options, () => sentenceOf(trial));
}

function trialOf(dir: string, { scratch }: { scratch: string }): Promise<Trial> {
  const bars = barsOf({ check: "Checking ", load: "Restoring", compare: "Comparing" });
  return tryBackup({ log, clock: systemClock }, { dir, scratch: resolve(scratch), onProgress: bars });
}

function sentenceOf({ tables, rows, events, apps, journal_bytes: bytes }: Trial): string {
  return `Verified: a trial restore gave the same ${rows} rows in ${tables} tables, the same ledgers (${events} events of ${apps} apps) and the same cube; ${bytes} bytes of journal were read.`;
}

function summaryOf({ database, journal, ...manifest }: Manifest) {
  return {
    began_at: new Date(manifest.began_at_ms).toISOString(),
    tables: database.tables.length,
    rows: database.tables.reduce((sum, { rows }) => sum + rows, 0),
    plain_bytes: database.tables.reduce((sum, table) => sum + table.plain_bytes, 0),
    bytes: manifest.bytes,
    postgres: database.postgres,
    migrations: database.migrations.length,
    journal_id: journal.id,
    cursor: journal.cursor,
    journal_until: journal.until,
    journal_bytes: journal.segments.reduce((sum, segment) => sum + segment.plain_bytes, 0),
    ...(journal.log && { log: journal.log }),
    key: manifest.key.fingerprint,
    has_key: manifest.key.box !== null,
  };
}

function passphraseOf(config: Config, { passphrase }: { passphrase?: string }): string | undefined {
  if (passphrase !== undefined) return readSecretOption(passphrase);
  return config.backupPassphrase === "" ? undefined : config.backupPassphrase;
}

/** A bar for each part, which appears when the part begins. */
function barsOf<Part extends string>(labels: Record<Part, string>) {
  const bars = new Map<Part, ProgressBar>();
  return (part: Part, done: number, total: number) => {
    const bar = bars.get(part) ?? new ProgressBar(labels[part]);
    bars.set(part, bar);
    bar.show(done, total);
  };
}

function secondsSince(startedMs: number): number {
  return Math.round((elapsedMs() - startedMs) / 100) / 10;
}
