import type { Readable } from "node:stream";

/** An object as a list of the bucket shows it. `etag` changes with the content. */
export type StoredObject = { name: string; bytes: number; etag: string };

/** What becomes an object. The storage refuses bytes that differ from the checksums. `open` gives them from the beginning. */
export type ObjectBody = {
  bytes: number;
  md5: string;
  sha256: string;
  type: string;
  open: () => Promise<Readable | Buffer>;
};

/** "kept": the bucket keeps versions, so what was removed is still there. */
export type Removal = "removed" | "kept";

/** The objects below the prefix, named without it. Every call fails with a BucketError. */
export type Bucket = {
  put(name: string, body: ObjectBody): Promise<{ etag: string }>;
  /** Undefined when there is none. */
  read(name: string): Promise<{ text: string; etag: string } | undefined>;
  list(folder: string): AsyncIterable<StoredObject>;
  remove(name: string): Promise<Removal>;
  close(): void;
};
