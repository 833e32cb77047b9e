import { randomBytes } from "node:crypto";
import { link, mkdir, mkdtemp, open, readdir, readFile, rename, rm, rmdir, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LAKE_KINDS, type LakeDay } from "../domain/lake.ts";
import { syncFolder, unlessGone, writeDurably } from "../journal/segment.ts";

/** Longer than any engine works on something. */
const TEMP_MS_MAX = 24 * 3_600_000;

/** Holds the id of the lake. */
export const LAKE_ID_FILE = "lake.id";

/** Names one file of the lake. */
export type FileKey = LakeDay & { name: string };

/**
 * The files of the lake: `events/app=1/day=2026-11-17/….parquet`. A file is written under another name, synced, and then
 * gets its own. It counts once the database names it.
 */
export class LakeFolder {
  readonly root: string;
  readonly id: string;

  private constructor(root: string, id: string) {
    this.root = root;
    this.id = id;
  }

  /** The folder gets an id with its first use, so that the database knows its own lake from a copy or an empty one. */
  static async open(root: string): Promise<LakeFolder> {
    await mkdir(root, { recursive: true, mode: 0o700 });
    const path = join(root, LAKE_ID_FILE);
    const known = await readFile(path, "utf8").catch(unlessGone);
    const id = known ?? randomBytes(12).toString("base64url");
    if (known === undefined) await writeDurably(path, id);
    return new LakeFolder(root, id);
  }

  /** What is on its way into files. */
  get spool(): string {
    return spoolOf(this.root);
  }

  pathOf(file: FileKey): string {
    return pathIn(this.root, file);
  }

  /** Removes what earlier processes have left on its way. */
  async clearSpool(nowMs: number): Promise<void> {
    await rm(this.spool, { recursive: true, force: true });
    await mkdir(this.spool, { recursive: true, mode: 0o700 });
    await clearTemp(this.root, nowMs - TEMP_MS_MAX);
  }

  /** Removes files that do not count, and folders that have become empty. Returns the number of files. */
  async sweep(counts: (file: FileKey) => boolean): Promise<number> {
    let removed = 0;
    for (const kind of LAKE_KINDS) {
      for (const app of await namesIn(join(this.root, kind))) {
        const appId = Number(app.slice("app=".length));
        for (const folder of await namesIn(join(this.root, kind, app))) {
          const day = folder.slice("day=".length);
          const path = join(this.root, kind, app, folder);
          const files = await namesIn(path);
          const gone = files.filter((file) => !counts({ appId, kind, day, name: file.replace(/\.parquet$/, "") }));
          for (const file of gone) await rm(join(path, file), { force: true });
          removed += gone.length;
          // Fails, as it should, when a file has come meanwhile.
          if (gone.length === files.length) await rmdir(path).catch(() => {});
        }
      }
    }
    return removed;
  }
}

/**
 * Bytes that may still be written where a lake is, or 0. It stops long before the disk is so full that new data is refused.
 */
export async function roomIn(root: string, freeBytesMin: number): Promise<number> {
  const { bavail, bsize } = await statfs(root);
  return Math.max(0, bavail * bsize - 2 * freeBytesMin);
}

export function lakeFolderOf({ dataDir }: { dataDir: string }): string {
  return join(dataDir, "lake");
}

/** The id of the lake in a folder, or undefined when there is none. */
export async function readLakeId(root: string): Promise<string | undefined> {
  return readFile(join(root, LAKE_ID_FILE), "utf8").catch(unlessGone);
}

/** Where a file is in the folder of a lake. */
export function pathIn(root: string, { appId, kind, day, name }: FileKey): string {
  return join(root, kind, `app=${appId}`, `day=${day}`, `${name}.parquet`);
}

export function spoolOf(root: string): string {
  return join(root, "spool");
}

/**
 * Makes a folder for what an engine has no memory for. Each engine has its own: they would overwrite each other's files, and
 * a question may read whatever is in its folder.
 */
export async function makeTempFolder(root: string): Promise<string> {
  const parent = tempOf(root);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return mkdtemp(join(parent, "engine-"));
}

/**
 * Makes a folder in which files of the lake have second names, for whoever reads them for long: they stay there when they
 * are replaced.
 */
export async function makeHeldFolder(root: string): Promise<string> {
  const parent = tempOf(root);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  return mkdtemp(join(parent, `held-${process.pid}-`));
}

/** Gives a file a second name in such a folder. */
export async function holdFile(file: FileKey, { root, held }: { root: string; held: string }): Promise<void> {
  const path = pathIn(held, file);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await link(pathIn(root, file), path);
}

/** Removes folders that their processes have left; those in use change more often. */
async function clearTemp(root: string, beforeMs: number): Promise<void> {
  for (const name of await namesIn(tempOf(root))) {
    const path = join(tempOf(root), name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
    if (mtimeMs < beforeMs || isLeft(name, mtimeMs)) await rm(path, { recursive: true, force: true });
  }
}

/** Whether files are held for a process that is gone: they may name users who have been erased since. */
function isLeft(name: string, mtimeMs: number): boolean {
  const pid = /^held-(\d+)-/.exec(name)?.[1];
  if (pid === undefined) return false;
  // In a container, every server may have the same number.
  return Number(pid) === process.pid ? mtimeMs < performance.timeOrigin : !isRunning(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function tempOf(root: string): string {
  return join(root, "temp");
}

/** A name that no file has had, later ones after earlier ones. */
export function fileName(nowMs: number): string {
  return `${nowMs.toString(36).padStart(9, "0")}-${randomBytes(4).toString("hex")}`;
}

/** Makes the folder of a file, so that it is still there after a crash. */
export async function makeFolderOf(path: string): Promise<void> {
  const folder = dirname(path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  for (let parent = dirname(folder); parent.length >= dirname(made).length; parent = dirname(parent)) {
    await syncFolder(parent);
    if (parent === dirname(parent)) return;
  }
}

/** Gives a written file its name once its bytes are on the disk, and returns its size. */
export async function settleFile(draft: string, path: string): Promise<number> {
  const file = await open(draft, "r");
  try {
    await file.datasync();
    const { size } = await file.stat();
    await rename(draft, path);
    await syncFolder(dirname(path));
    return size;
  } finally {
    await file.close();
  }
}

export async function isThere(path: string, bytes: number): Promise<boolean> {
  return stat(path).then(
    ({ size }) => size === bytes,
    () => false,
  );
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
