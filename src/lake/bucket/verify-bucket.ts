import type pg from "pg";
import { loadAllLakeFiles } from "../../db/lake-file.ts";
import { unlessGone } from "../../journal/segment.ts";
import { pathIn } from "../lake-folder.ts";
import type { Bucket } from "./bucket.ts";
import { type AppObjects, objectsOf, viewBucket } from "./bucket-view.ts";
import { bodyOfFile } from "./object-body.ts";
import { nameOfFile, readObjectName } from "./object-name.ts";

/**
 * An app's objects, compared with its manifest and with the files here. `waiting_files`: they count, and the manifest does
 * not name them yet. `unnamed_objects`: they wait to be removed.
 */
export type BucketCheck = {
  app_id: number;
  objects: number;
  bytes: number;
  equal_objects: number;
  missing_objects: string;
  different_objects: string;
  waiting_files: number;
  unnamed_objects: number;
};

type Parts = { pool: pg.Pool; bucket: Bucket; root: string };

/** Lists the bucket and compares names, sizes and checksums. */
export async function verifyBucket(parts: Parts, onObject: () => void = () => {}): Promise<BucketCheck[]> {
  const apps = await viewBucket(parts.bucket);
  const counted = new Map<number, string[]>();
  for (const file of await loadAllLakeFiles(parts.pool)) namesOf(counted, file.appId).push(nameOfFile(file));
  const appIds = new Set([...apps.keys(), ...counted.keys()]);
  const checks: BucketCheck[] = [];
  for (const appId of [...appIds].sort((one, other) => one - other)) {
    const known = objectsOf(apps, appId);
    checks.push(await checkApp(parts, { appId, known, counted: namesOf(counted, appId), onObject }));
  }
  return checks;
}

function namesOf(counted: Map<number, string[]>, appId: number): string[] {
  const names = counted.get(appId) ?? [];
  counted.set(appId, names);
  return names;
}

type AppCheck = { appId: number; known: AppObjects; counted: readonly string[]; onObject: () => void };

async function checkApp(
  { root }: Parts,
  { appId, known: { objects, named }, counted, onObject }: AppCheck,
): Promise<BucketCheck> {
  const missing: string[] = [];
  const different: string[] = [];
  let equal = 0;
  for (const [name, file] of named ?? []) {
    const object = objects.get(name);
    if (!object) missing.push(name);
    else if (await isEqual(root, { name, file, object })) equal += 1;
    else different.push(name);
    onObject();
  }
  return {
    app_id: appId,
    objects: objects.size,
    bytes: [...objects.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    equal_objects: equal,
    missing_objects: missing.join(", "),
    different_objects: different.join(", "),
    waiting_files: counted.filter((name) => !named?.has(name)).length,
    unnamed_objects: [...objects.keys()].filter((name) => !named?.has(name)).length,
  };
}

type Compared = {
  name: string;
  file: { bytes: number; sha256: string; etag: string };
  object: { bytes: number; etag: string };
};

/**
 * The list, the manifest and the file here must agree. An ETag is the MD5 at most storages; of those that encrypt, it is
 * whatever the upload was answered with, after the storage had checked the bytes. It changes with the content.
 */
async function isEqual(root: string, { name, file, object }: Compared): Promise<boolean> {
  if (object.bytes !== file.bytes || object.etag !== file.etag) return false;
  const key = readObjectName(name);
  if (key?.kind !== "file") return false;
  const body = await bodyOfFile(pathIn(root, key.file)).catch(unlessGone);
  // Replaced since the manifest was written: it is compared with that alone.
  return body === undefined || body.sha256 === file.sha256;
}
