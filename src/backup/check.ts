import { assertKnown } from "../db/engine/migrate.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { checkFile } from "./packed-file.ts";

export type OnPart<Part extends string> = (part: Part, done: number, total: number) => void;

/** Reads a backup's manifest and compares every file with it. Nothing is restored from a backup that is not whole. */
export async function checkBackup(dir: string, onProgress: OnPart<"check">): Promise<Manifest> {
  const manifest = readManifest(dir);
  await assertKnown(manifest.database.migrations);
  const files = [...manifest.database.tables, ...manifest.journal.segments, ...(manifest.lake?.files ?? [])];
  let done = 0;
  for (const file of files) {
    await checkFile(dir, file, (bytes) => {
      done += bytes;
      onProgress("check", done, manifest.bytes);
    });
  }
  return manifest;
}
