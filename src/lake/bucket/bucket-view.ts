import type { Bucket, StoredObject } from "./bucket.ts";
import { BucketError } from "./bucket-error.ts";
import { type Manifest, type ManifestFile, readManifest } from "./manifest.ts";
import { bodyOfJson } from "./object-body.ts";
import { LISTED_FOLDERS, nameOfManifest, OWNER_NAME, readObjectName } from "./object-name.ts";

/** An object of ours. `sha256` is known once we have uploaded or compared it, or a manifest of ours tells it. */
export type KnownObject = Omit<StoredObject, "name"> & { sha256: string | undefined };

/** What the bucket has of an app: objects by name, and the files that the manifest names. */
export type AppObjects = { objects: Map<string, KnownObject>; named: ReadonlyMap<string, ManifestFile> | undefined };

/**
 * Finds out what the bucket has of ours. The list is the truth: it knows what a crashed process has uploaded and not
 * noted, what a restored database has forgotten, and what somebody has removed, which a table of ours would not. It costs
 * one call for a thousand objects at the beginning and twice an hour; in between, whoever has the right to push knows
 * what he changes. Checksums are noted in the manifests, beside the objects.
 */
export async function viewBucket(bucket: Bucket): Promise<Map<number, AppObjects>> {
  const apps = new Map<number, AppObjects>();
  const manifests = new Set<number>();
  for (const folder of LISTED_FOLDERS) {
    for await (const { name, bytes, etag } of bucket.list(folder)) {
      const found = readObjectName(name);
      if (found?.kind === "manifest") manifests.add(found.appId);
      if (found?.kind === "file")
        objectsOf(apps, found.file.appId).objects.set(name, { bytes, etag, sha256: undefined });
    }
  }
  for (const appId of manifests) {
    const read = await bucket.read(nameOfManifest(appId));
    if (read) takeManifest(objectsOf(apps, appId), readManifest(read.text));
  }
  return apps;
}

export function objectsOf(apps: Map<number, AppObjects>, appId: number): AppObjects {
  const known = apps.get(appId) ?? { objects: new Map(), named: undefined };
  apps.set(appId, known);
  return known;
}

/** A manifest that cannot be read names nothing, and is replaced. */
function takeManifest(app: AppObjects, manifest: Manifest | undefined): void {
  const files = manifest?.files ?? [];
  app.named = new Map(files.map((file) => [file.path, file]));
  for (const { path, bytes, etag, sha256 } of files) {
    const object = app.objects.get(path);
    if (object && object.bytes === bytes && object.etag === etag) object.sha256 = sha256;
  }
}

/**
 * Makes sure that the objects below the prefix are this installation's, and notes it where nobody has. Two installations
 * would remove each other's objects: the names of their files look alike.
 */
export async function claimPrefix(
  bucket: Bucket,
  { owner, wish }: { owner: string; wish: "claim" | "look" },
): Promise<void> {
  const note = bodyOfJson({ touchpoint_lake: owner });
  const found = await bucket.read(OWNER_NAME);
  if (!found && wish === "claim") await bucket.put(OWNER_NAME, note);
  if (found && found.text !== String(await note.open())) throw new BucketError("owner");
}
