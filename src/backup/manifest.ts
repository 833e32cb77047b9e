import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BackupSums } from "../db/backup-sums.ts";
import type { Sequence } from "../db/engine/catalog.ts";
import type { DoneMigration } from "../db/engine/migrate.ts";
import { messageOf, UsageError } from "../errors.ts";
import type { KeyBox } from "./key-box.ts";

/** A file of a backup, as it must be found again. `plain_bytes`: its size when unpacked. */
export type SavedFile = { path: string; bytes: number; sha256: string; plain_bytes: number };

/** `digest`: a sum over the rows that does not depend on their order; see RowMeter. */
export type SavedTable = SavedFile & {
  name: string;
  columns: string[];
  partition: { of: string; from: string; until: string } | null;
  rows: number;
  digest: number;
};

export type SavedSegment = SavedFile & { from: number };

export type SavedJournal = {
  id: string;
  /** How far the tables of the backup have it. */
  cursor: number;
  /** How far the backup has it. */
  until: number;
  segments: SavedSegment[];
  /** Journals of other data folders that fill the same tables. Only their positions are known here. */
  others: { journalId: string; position: number }[];
  /** Where the entries are from when their log is in JetStream. */
  log?: SavedLog;
};

/**
 * A log in JetStream. Its entries between `cursors` and `ends` are in the backup as a journal in files of its own, which
 * begins at 0 and has an id that no cursor knows: an id never returns with other positions.
 */
export type SavedLog = { id: string; cursors: number[]; ends: number[] };

/** The files of days that are only in the lake, and its id. */
export type SavedLake = { id: string; files: SavedLakeFile[] };
export type SavedLakeFile = SavedFile & { app: number; day: string; name: string };

/** The contents of a backup. The file is written last: without it there is no backup. */
export type Manifest = {
  format: 1;
  made_by: string;
  began_at_ms: number;
  ended_at_ms: number;
  /** The size of all files. */
  bytes: number;
  database: {
    kind: "embedded" | "external";
    postgres: string;
    migrations: DoneMigration[];
    tables: SavedTable[];
    sequences: Sequence[];
    sums: BackupSums;
  };
  journal: SavedJournal;
  /** Missing when all events are in the tables. */
  lake?: SavedLake;
  /** The key that sealed the secrets in the tables; the key itself only in a box that a passphrase opens. */
  key: { fingerprint: string | null; box: KeyBox | null };
};

export const MANIFEST = "manifest.json";
const FORMAT = 1;

/** The text of the file: one line with the checksum of the rest, then the manifest. */
export function textOfManifest(manifest: Manifest): string {
  const text = JSON.stringify(manifest, undefined, 1);
  return `{"sha256":"${sha256Of(text)}","manifest":\n${text}\n}\n`;
}

export function readManifest(dir: string): Manifest {
  const path = join(dir, MANIFEST);
  if (!existsSync(path)) throw new UsageError(`${dir} holds no backup: it has no ${MANIFEST}.`);
  return manifestOf(readFileSync(path, "utf8"), path);
}

export function manifestOf(text: string, path: string): Manifest {
  const match = /^\{"sha256":"([0-9a-f]{64})","manifest":\n([\s\S]*)\n\}\n$/.exec(text);
  if (!match || sha256Of(match[2]!) !== match[1]) throw new UsageError(`${path} is damaged: its checksum is wrong.`);
  const manifest = parsed(match[2]!, path);
  if (manifest.format !== FORMAT)
    throw new UsageError(`${path} has the format ${manifest.format}, which a newer version of Touchpoint has written.`);
  return manifest;
}

function parsed(text: string, path: string): Manifest {
  try {
    return JSON.parse(text) as Manifest;
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
