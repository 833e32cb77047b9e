import { createHmac } from "node:crypto";
import type pg from "pg";
import type { Clock } from "../../clock.ts";
import type { BucketSettings } from "../../config.ts";
import { inTransaction } from "../../db/engine/pool.ts";
import { type LakeState, loadLakeState, saveLakeState, tryPushLock } from "../../db/lake-state.ts";
import { messageOf } from "../../errors.ts";
import { LakeFolder } from "../lake-folder.ts";
import type { Bucket } from "./bucket.ts";
import { BUCKET_FAULTS } from "./bucket-error.ts";
import { BucketPush, type Pushed, type PushLimits } from "./push.ts";

export type PusherParts = {
  pool: pg.Pool;
  settings: BucketSettings;
  /** The folder of the lake. */
  root: string;
  clock: Clock;
  owner: string;
};

/** Names the installation to others without telling its secret. It stays the same in a restored backup. */
export function bucketOwnerOf(erasureKey: Buffer): string {
  return createHmac("sha256", erasureKey).update("lake bucket").digest("base64url").slice(0, 22);
}

/** Loaded here, because the library behind it is large. */
export async function openBucketOf(settings: BucketSettings): Promise<Bucket> {
  const { openBucket } = await import("./s3-bucket.ts");
  return openBucket(settings);
}

/** Makes turns at the bucket while no other process does, and notes how they went where every process can read it. */
export class Pusher {
  readonly #parts: PusherParts;
  #bucket: Bucket | undefined;
  #push: BucketPush | undefined;
  /** The number of our last turn. */
  #turns: number | undefined;

  constructor(parts: PusherParts) {
    this.#parts = parts;
  }

  /** "busy": another process is at it. */
  async turn(limits: PushLimits): Promise<Pushed | "busy"> {
    return this.locked(async (push, before) => {
      try {
        const pushed = await push.turn(limits);
        await this.#note(before, pushed, pushed.keepsVersions ? BUCKET_FAULTS.versions : "");
        return pushed;
      } catch (error) {
        await this.#note(before, undefined, messageOf(error));
        throw error;
      }
    });
  }

  /** Works on the bucket while nobody else can. */
  async locked<T>(work: (push: BucketPush, before: LakeState | undefined) => Promise<T>): Promise<T | "busy"> {
    const { pool } = this.#parts;
    return inTransaction(pool, async (tx) => {
      if (!(await tryPushLock(tx))) return "busy";
      const before = await loadLakeState(pool, "bucket");
      // Somebody else has pushed meanwhile: what we know of the bucket is old.
      if (!this.#push || before?.turns !== this.#turns) this.#push = await this.#begin();
      return work(this.#push, before);
    });
  }

  async bucket(): Promise<Bucket> {
    this.#bucket ??= await openBucketOf(this.#parts.settings);
    return this.#bucket;
  }

  close(): void {
    this.#bucket?.close();
  }

  async #begin(): Promise<BucketPush> {
    const { pool, root, clock, owner } = this.#parts;
    const [bucket, folder] = [await this.bucket(), await LakeFolder.open(root)];
    return new BucketPush({ pool, bucket, folder, clock, owner });
  }

  async #note(before: LakeState | undefined, pushed: Pushed | undefined, failure: string): Promise<void> {
    const nowMs = this.#parts.clock();
    const { waitingFiles = 0, files = 0, bytes = 0 } = pushed ?? before ?? {};
    const isWell = pushed?.isInStep && failure === "";
    const behindSinceMs = isWell ? null : (before?.behindSinceMs ?? nowMs);
    const state = { workedAtMs: nowMs, behindSinceMs, waitingFiles, files, bytes, failure };
    this.#turns = await saveLakeState(this.#parts.pool, "bucket", state);
  }
}
