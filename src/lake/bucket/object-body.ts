import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import type { ObjectBody } from "./bucket.ts";

/** A file as an object. It is read twice, once for its checksums: an upload is signed with them before it begins. */
export async function bodyOfFile(path: string): Promise<ObjectBody> {
  const [md5, sha256] = [createHash("md5"), createHash("sha256")];
  let bytes = 0;
  for await (const chunk of (await open(path)).createReadStream() as AsyncIterable<Buffer>) {
    md5.update(chunk);
    sha256.update(chunk);
    bytes += chunk.length;
  }
  return {
    bytes,
    md5: md5.digest("hex"),
    sha256: sha256.digest("hex"),
    type: "application/vnd.apache.parquet",
    // Opened before it is sent: a file that is replaced meanwhile stays readable.
    open: async () => (await open(path)).createReadStream().on("error", () => {}),
  };
}

export function bodyOfJson(value: unknown): ObjectBody {
  const content = Buffer.from(`${JSON.stringify(value)}\n`);
  return {
    bytes: content.length,
    md5: createHash("md5").update(content).digest("hex"),
    sha256: createHash("sha256").update(content).digest("hex"),
    type: "application/json",
    open: async () => content,
  };
}
