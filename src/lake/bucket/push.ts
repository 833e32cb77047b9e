import type pg from "pg";
import type { Clock } from "../../clock.ts";
import { inTransaction } from "../../db/engine/pool.ts";
import { type LakeApp, loadLakeApp } from "../../db/lake-app.ts";
import { type FilesDigest, type LakeFile, loadFilesDigests, loadLakeFiles } from "../../db/lake-file.ts";
import { unlessGone } from "../../journal/segment.ts";
import { type LakeFolder, pathIn } from "../lake-folder.ts";
import type { Bucket } from "./bucket.ts";
import { BucketError } from "./bucket-error.ts";
import { type AppObjects, claimPrefix, objectsOf, viewBucket } from "./bucket-view.ts";
import { eachOf } from "./each-of.ts";
import { type ManifestFile, manifestOf } from "./manifest.ts";
import { bodyOfFile, bodyOfJson } from "./object-body.ts";
import { nameOfFile, nameOfManifest } from "./object-name.ts";

/** How often the bucket is listed anew. Together with everything else, less than the hour that an erased user may stay. */
const LIST_EVERY_MS = 30 * 60_000;
/** An object that no longer counts is removed after this time, even while a manifest that names it cannot be replaced. */
const KEPT_MS_MAX = 20 * 60_000;
const AT_ONCE = 4;

export type PushParts = {
  pool: pg.Pool;
  bucket: Bucket;
  /** The folder that has the files. */
  folder: Pick<LakeFolder, "root" | "id">;
  clock: Clock;
  /** Tells installations apart. */
  owner: string;
};

/** `graceMs`: how long objects that the manifest no longer names stay for those who are reading them. */
export type PushLimits = { isOut: () => boolean; graceMs: number; onFile?: (bytes: number) => void };

/** What is left to do after a turn, and what the bucket has. `keepsVersions`: removed objects stay as old versions. */
export type Pushed = {
  waitingFiles: number;
  files: number;
  bytes: number;
  uploaded: number;
  removed: number;
  isInStep: boolean;
  keepsVersions: boolean;
};

/** What a turn would do for an app. */
export type PushPlan = { appId: number; upload: readonly LakeFile[]; remove: readonly string[] };

type AppState = { app: LakeApp | undefined; files: readonly LakeFile[] };

/**
 * Keeps a bucket in step with the files that count, app by app: uploads what is missing, then writes the manifest, then
 * removes what no longer counts. A file has a name that no other content ever gets, so an upload can be repeated, and a
 * crash at any point leaves a bucket from which the next turn goes on. Only the holder of the push lock may use it.
 */
export class BucketPush {
  readonly #parts: PushParts;
  #apps = new Map<number, AppObjects>();
  #listedAtMs = Number.NEGATIVE_INFINITY;
  /** The files of apps that have nothing left to do. */
  readonly #inStep = new Map<number, string>();
  readonly #waiting = new Map<number, number>();
  /** Since when objects do not count. */
  readonly #goneSince = new Map<string, number>();
  #keepsVersions = false;
  #uploaded = 0;
  #removed = 0;

  constructor(parts: PushParts) {
    this.#parts = parts;
  }

  /**
   * What fails for one app does not keep the others waiting; it is told at the end. A refusal that concerns all of them ends
   * the turn.
   */
  async turn(limits: PushLimits): Promise<Pushed> {
    this.#uploaded = 0;
    this.#removed = 0;
    await this.#view("claim");
    let failure: unknown;
    for (const digest of await this.#digests()) {
      if (this.#inStep.get(digest.appId) === keyOf(digest)) continue;
      if (limits.isOut()) {
        this.#waiting.set(digest.appId, Math.max(1, digest.files - this.#objectsOf(digest.appId).objects.size));
        continue;
      }
      try {
        await this.#pushApp(digest, limits);
      } catch (error) {
        if (error instanceof BucketError && error.concernsAll) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return this.#pushed();
  }

  /** What a turn would do now. Changes nothing. */
  async plan(): Promise<PushPlan[]> {
    await this.#view("look");
    const plans: PushPlan[] = [];
    for (const { appId } of await this.#digests()) {
      const { files } = await this.#stateOf(appId);
      const known = this.#objectsOf(appId);
      const upload = files.filter((file) => !isThere(known, file));
      plans.push({ appId, upload, remove: goneFrom(known, files) });
    }
    return plans.filter(({ upload, remove }) => upload.length > 0 || remove.length > 0);
  }

  async #view(wish: "claim" | "look"): Promise<void> {
    const { bucket, owner, clock } = this.#parts;
    if (clock() - this.#listedAtMs < LIST_EVERY_MS) return;
    await claimPrefix(bucket, { owner, wish });
    this.#apps = await viewBucket(bucket);
    this.#inStep.clear();
    this.#waiting.clear();
    this.#listedAtMs = clock();
  }

  /** The files of every app that has some here or in the bucket. */
  async #digests(): Promise<FilesDigest[]> {
    const digests = await loadFilesDigests(this.#parts.pool);
    const known = new Set(digests.map(({ appId }) => appId));
    const gone = [...this.#apps.keys()].filter((appId) => !known.has(appId));
    return [...digests, ...gone.map((appId) => ({ appId, files: 0, names: "" }))];
  }

  async #pushApp(digest: FilesDigest, limits: PushLimits): Promise<void> {
    const { appId } = digest;
    const state = await this.#stateOf(appId);
    const known = this.#objectsOf(appId);
    try {
      const missing = state.files.filter((file) => !isThere(known, file));
      this.#waiting.set(appId, missing.length);
      await eachOf(missing, AT_ONCE, async (file) => {
        if (limits.isOut() || !(await this.#upload(known, file))) return;
        this.#waiting.set(appId, this.#waiting.get(appId)! - 1);
        limits.onFile?.(file.bytes);
      });
      if (this.#waiting.get(appId) === 0) await this.#putManifest(appId, known, state);
    } finally {
      // Also when uploads fail: an erased user must not stay because a disk is full.
      await this.#removeGone(known, state.files, limits);
    }
    const isDone = this.#waiting.get(appId) === 0 && goneFrom(known, state.files).length === 0;
    // If files have changed since the digest was taken, the next one differs.
    if (isDone) this.#inStep.set(appId, keyOf(digest));
  }

  /** The files of an app, of one state of the tables. */
  async #stateOf(appId: number): Promise<AppState> {
    const { pool, folder } = this.#parts;
    return inTransaction(
      pool,
      async (tx) => {
        const app = await loadLakeApp(tx, appId);
        if (app && app.lakeId !== folder.id) throw new Error("The files of the lake are in another folder.");
        return { app, files: await loadLakeFiles(tx, { appId }) };
      },
      "snapshot",
    );
  }

  /** False when the file has been replaced meanwhile. */
  async #upload(known: AppObjects, file: LakeFile): Promise<boolean> {
    const name = nameOfFile(file);
    const body = await bodyOfFile(pathIn(this.#parts.folder.root, file)).catch(unlessGone);
    if (!body) return false;
    if (body.bytes !== file.bytes)
      throw new Error(`The file ${name} has ${body.bytes} bytes instead of ${file.bytes}.`);
    const { bytes, sha256 } = body;
    const object = known.objects.get(name);
    // Uploaded before a crash: most storages give the MD5 as the ETag.
    const isUploaded = object?.bytes === bytes && object.etag === body.md5;
    // Whether or not the call succeeds, the object may be there from now on.
    if (!object) known.objects.set(name, { bytes: 0, etag: "", sha256: undefined });
    const { etag } = isUploaded ? object : await this.#parts.bucket.put(name, body);
    known.objects.set(name, { bytes, etag, sha256 });
    this.#uploaded += isUploaded ? 0 : 1;
    return true;
  }

  async #putManifest(appId: number, known: AppObjects, { app, files }: AppState): Promise<void> {
    const { bucket } = this.#parts;
    if (!app) {
      if (known.named) await bucket.remove(nameOfManifest(appId));
      known.named = undefined;
      return;
    }
    const named = files.map((file) => manifestFileOf(known, file));
    const isSame = named.every(({ path, etag }) => known.named?.get(path)?.etag === etag);
    if (known.named?.size === named.length && isSame) return;
    await bucket.put(nameOfManifest(appId), bodyOfJson(manifestOf(appId, app.writtenUntilMs, named)));
    known.named = new Map(named.map((file) => [file.path, file]));
  }

  async #removeGone(known: AppObjects, files: readonly LakeFile[], { isOut, graceMs }: PushLimits): Promise<void> {
    const nowMs = this.#parts.clock();
    const due = goneFrom(known, files).filter((name) => {
      const sinceMs = this.#goneSince.get(name) ?? nowMs;
      this.#goneSince.set(name, sinceMs);
      return nowMs - sinceMs >= (known.named?.has(name) ? KEPT_MS_MAX : graceMs);
    });
    await eachOf(due, AT_ONCE, async (name) => {
      if (isOut()) return;
      this.#keepsVersions = (await this.#parts.bucket.remove(name)) === "kept";
      known.objects.delete(name);
      this.#goneSince.delete(name);
      this.#removed += 1;
    });
  }

  #objectsOf(appId: number): AppObjects {
    return objectsOf(this.#apps, appId);
  }

  #pushed(): Pushed {
    const all = [...this.#apps.values()].flatMap(({ objects: own }) => [...own.values()]);
    const objects = all.filter(({ etag }) => etag !== "");
    return {
      waitingFiles: [...this.#waiting.values()].reduce((sum, files) => sum + files, 0),
      files: objects.length,
      bytes: objects.reduce((sum, { bytes }) => sum + bytes, 0),
      uploaded: this.#uploaded,
      removed: this.#removed,
      isInStep: [...this.#waiting.values()].every((files) => files === 0),
      keepsVersions: this.#keepsVersions,
    };
  }
}

function isThere({ objects }: AppObjects, file: LakeFile): boolean {
  const object = objects.get(nameOfFile(file));
  return object?.sha256 !== undefined && object.bytes === file.bytes;
}

/** The objects of an app that are no longer files. */
function goneFrom({ objects }: AppObjects, files: readonly LakeFile[]): string[] {
  const names = new Set(files.map(nameOfFile));
  return [...objects.keys()].filter((name) => !names.has(name));
}

function manifestFileOf({ objects }: AppObjects, file: LakeFile): ManifestFile {
  const path = nameOfFile(file);
  const { bytes, sha256, etag } = objects.get(path)!;
  return { path, rows: file.rows, bytes, sha256: sha256!, etag };
}

function keyOf({ files, names }: FilesDigest): string {
  return `${files} ${names}`;
}
