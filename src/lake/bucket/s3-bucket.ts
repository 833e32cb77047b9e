import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { BucketSettings } from "../../config.ts";
import type { Bucket, ObjectBody, Removal, StoredObject } from "./bucket.ts";
import { bucketErrorOf } from "./bucket-error.ts";

/**
 * A bucket by the client library of AWS, which speaks to every storage that is compatible. The library is large: this file
 * is loaded only where a bucket is set, and by nothing else.
 */

/** How long a connection may take and be silent, and a call may take: longer for what is large, down to a slow line. */
const LIMITS = { connectMs: 10_000, silentMs: 30_000, callMs: 60_000, bytesPerMs: 50, againMs: 300 };
/** Calls that fail for a passing reason are made so often, with growing pauses. The loop tries again after that. */
const ATTEMPTS = 3;

const QUIET = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export function openBucket(settings: BucketSettings, limits = LIMITS): Bucket {
  return new S3Bucket(settings, limits);
}

class S3Bucket implements Bucket {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #limits: typeof LIMITS;
  readonly #closing = new AbortController();

  constructor({ address, endpoint, region, keyId, key, style }: BucketSettings, limits: typeof LIMITS) {
    this.#limits = limits;
    this.#bucket = address.bucket;
    this.#prefix = address.prefix;
    this.#client = new S3Client({
      region,
      ...(endpoint !== "" && { endpoint }),
      forcePathStyle: style === "path",
      credentials: { accessKeyId: keyId, secretAccessKey: key },
      // A stream can be sent only once, so the attempts are made here, each with a new one.
      maxAttempts: 1,
      // The checksums that every storage knows are sent with each object; newer ones are refused by some.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      // It would write to standard output what is thrown and told anyway.
      logger: QUIET,
      requestHandler: { connectionTimeout: limits.connectMs, socketTimeout: limits.silentMs },
    });
  }

  async put(name: string, body: ObjectBody): Promise<{ etag: string }> {
    return this.#attempts(body.bytes, async (abortSignal) => {
      const content = await body.open();
      try {
        const command = this.#putCommand(name, body, content);
        const { ETag: etag = "" } = await this.#client.send(command, { abortSignal });
        return { etag: plainTag(etag) };
      } finally {
        if (!Buffer.isBuffer(content)) content.destroy();
      }
    });
  }

  #putCommand(name: string, { bytes, md5, sha256, type }: ObjectBody, content: Readable | Buffer): PutObjectCommand {
    const command = new PutObjectCommand({
      Bucket: this.#bucket,
      Key: this.#prefix + name,
      Body: content,
      ContentLength: bytes,
      ContentMD5: Buffer.from(md5, "hex").toString("base64"),
      ContentType: type,
    });
    // Signed with the request: the library itself does not read a stream before it is sent.
    command.middlewareStack.add(
      (next) => (args) => {
        (args.request as { headers: Record<string, string> }).headers["x-amz-content-sha256"] = sha256;
        return next(args);
      },
      { step: "build", name: "contentSha256" },
    );
    return command;
  }

  async read(name: string): Promise<{ text: string; etag: string } | undefined> {
    return this.#attempts(0, async (abortSignal) => {
      try {
        const key = { Bucket: this.#bucket, Key: this.#prefix + name };
        const { Body: body, ETag: etag = "" } = await this.#client.send(new GetObjectCommand(key), { abortSignal });
        return { text: (await body?.transformToString("utf8")) ?? "", etag: plainTag(etag) };
      } catch (error) {
        if ((error as Error).name === "NoSuchKey") return undefined;
        throw error;
      }
    });
  }

  async *list(folder: string): AsyncIterable<StoredObject> {
    let token: string | undefined;
    do {
      const page = await this.#attempts(0, (abortSignal) => {
        const wanted = { Bucket: this.#bucket, Prefix: this.#prefix + folder, ContinuationToken: token };
        return this.#client.send(new ListObjectsV2Command(wanted), { abortSignal });
      });
      for (const { Key: key = "", Size: bytes = 0, ETag: etag = "" } of page.Contents ?? [])
        yield { name: key.slice(this.#prefix.length), bytes, etag: plainTag(etag) };
      token = page.IsTruncated ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async remove(name: string): Promise<Removal> {
    const { DeleteMarker: isMarked } = await this.#attempts(0, (abortSignal) => {
      const key = { Bucket: this.#bucket, Key: this.#prefix + name };
      return this.#client.send(new DeleteObjectCommand(key), { abortSignal });
    });
    return isMarked ? "kept" : "removed";
  }

  /** Ends the calls that are under way. */
  close(): void {
    this.#closing.abort();
    this.#client.destroy();
  }

  async #attempts<T>(bytes: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal: closing } = this.#closing;
    const ms = this.#limits.callMs + Math.ceil(bytes / this.#limits.bytesPerMs);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call(AbortSignal.any([AbortSignal.timeout(ms), closing]));
      } catch (error) {
        const failure = bucketErrorOf(error);
        if (!failure.isPassing || attempt === ATTEMPTS || closing.aborted) throw failure;
        await sleep(this.#limits.againMs * 2 ** attempt, undefined, { signal: closing }).catch(() => {});
      }
    }
  }
}

/** Storages put an ETag into quotes, in headers and in lists. */
function plainTag(etag: string): string {
  return etag.replaceAll('"', "");
}
