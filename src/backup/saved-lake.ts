import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type ColdLakeFile, loadAllColdFiles, loadColdLakes } from "../db/cold-event.ts";
import type { Executor } from "../db/engine/sql.ts";
import { messageOf, UsageError } from "../errors.ts";
import { writeDurably } from "../journal/segment.ts";
import {
  holdFile,
  isThere,
  LAKE_ID_FILE,
  lakeFolderOf,
  makeFolderOf,
  makeHeldFolder,
  pathIn,
  readLakeId,
  settleFile,
} from "../lake/lake-folder.ts";
import type { SavedLake, SavedLakeFile } from "./manifest.ts";
import { type PackOptions, packFile, unpackFile } from "./packed-file.ts";
import type { Aside } from "./target.ts";

export const LAKE_FOLDER = "lake";

/** Files of days that are only in the lake, under second names: the server may replace them while the tables are saved. */
export type HeldLake = { id: string; files: readonly ColdLakeFile[]; folder: string };

/** Undefined when there are no such days. */
export async function holdLake(tx: Executor, dataDir: string): Promise<HeldLake | undefined> {
  const [id] = await loadColdLakes(tx);
  if (id === undefined) return undefined;
  const files = await loadAllColdFiles(tx);
  const root = lakeFolderOf({ dataDir });
  if ((await readLakeId(root)) !== id)
    throw new UsageError(
      `Older days are only in the lake ${id}, which is not in ${root}: set DATA_DIR to the folder of the server, on its machine.`,
    );
  const folder = await makeHeldFolder(root);
  const held = { id, files, folder };
  try {
    for (const file of files) await holdFile({ ...file, kind: "events" }, { root, held: folder });
    return held;
  } catch (error) {
    await releaseLake(held);
    throw new UsageError(`A file of the lake cannot be saved, and no table has its events: ${messageOf(error)}`);
  }
}

export async function releaseLake(held: HeldLake | undefined): Promise<void> {
  if (held) await rm(held.folder, { recursive: true, force: true });
}

export async function saveLake(
  { id, files, folder }: HeldLake,
  options: Pick<PackOptions, "dir" | "beforeWrite"> & { onProgress: (done: number, total: number) => void },
): Promise<SavedLake> {
  const { dir, beforeWrite } = options;
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const saved: SavedLakeFile[] = [];
  let done = 0;
  for (const { appId: app, day, name, bytes } of files) {
    const source = createReadStream(pathIn(folder, { appId: app, kind: "events", day, name }));
    const packed = await packFile({
      dir,
      path: `${LAKE_FOLDER}/${app}-${day}-${name}.parquet.gz`,
      source,
      beforeWrite,
    });
    saved.push({ ...packed, app, day, name });
    done += bytes;
    options.onProgress(done, total);
  }
  return { id, files: saved };
}

/** Refuses a folder with another lake, before anything is changed. */
export async function planLake(
  { dataDir }: { dataDir: string },
  { lake, existing }: { lake: SavedLake | undefined; existing: "refuse" | "replace" },
): Promise<"none" | "kept" | "aside"> {
  const root = lakeFolderOf({ dataDir });
  if (!lake || !existsSync(root)) return "none";
  const id = await readLakeId(root);
  // A restore that was interrupted has left it: the id comes last.
  if (id === undefined) return "none";
  if (id === lake.id) return "kept";
  if (existing === "replace") return "aside";
  throw new UsageError(
    `${root} holds another lake than the backup, which has days that are only in files. Nothing was changed. Restore into another DATA_DIR, or add --replace to put that lake aside.`,
  );
}

/** Puts the saved files in their places. Those that are still there stay. */
export async function placeLake(
  { dataDir }: { dataDir: string },
  { dir, lake, plan, aside }: { dir: string; lake: SavedLake | undefined; plan: string; aside: Aside },
): Promise<void> {
  if (plan === "aside") aside.put(LAKE_FOLDER);
  if (!lake) return;
  const root = lakeFolderOf({ dataDir });
  await mkdir(root, { recursive: true, mode: 0o700 });
  for (const file of lake.files) {
    const path = pathIn(root, { appId: file.app, kind: "events", day: file.day, name: file.name });
    if (await isThere(path, file.plain_bytes)) continue;
    await makeFolderOf(path);
    await unpackFile(dir, file, createWriteStream(`${path}.draft`, { mode: 0o600 }));
    await settleFile(`${path}.draft`, path);
  }
  if (plan !== "kept") await writeDurably(join(root, LAKE_ID_FILE), lake.id);
}
