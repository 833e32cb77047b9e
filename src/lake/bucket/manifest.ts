import { LAKE_SCHEMA } from "../lake-tables.ts";

/** A file of an app in the bucket. `path` is its name below the prefix, which also tells the table and the day. */
export type ManifestFile = { path: string; rows: number; bytes: number; sha256: string; etag: string };

/**
 * The files of an app that count, as of one state of the tables. It is written after them, and they are removed after
 * the next one is written, so whoever reads the files that it names reads one state. There is one for each app: apps
 * change independently of each other, and one for all would be written anew with every change of any of them.
 */
export type Manifest = {
  schema: number;
  app_id: number;
  /** Everything received before this instant is in the files. */
  received_until: string;
  files: readonly ManifestFile[];
};

export function manifestOf(appId: number, receivedUntilMs: number, files: readonly ManifestFile[]): Manifest {
  return { schema: LAKE_SCHEMA, app_id: appId, received_until: new Date(receivedUntilMs).toISOString(), files };
}

/** Undefined when the text is no manifest: it is then written anew. */
export function readManifest(text: string): Manifest | undefined {
  try {
    const found = JSON.parse(text) as Manifest;
    return Array.isArray(found.files) && found.files.every(isFile) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isFile(file: Partial<ManifestFile> | null): boolean {
  return (
    typeof file?.path === "string" &&
    typeof file.bytes === "number" &&
    typeof file.sha256 === "string" &&
    typeof file.etag === "string"
  );
}
