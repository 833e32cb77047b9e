import { randomUUID } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "./segment.ts";

/** The unique id of a journal in files, which keeps a cursor from being used on another journal's positions. */
export async function readOrMakeId(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const known = await readId(dir);
  if (known !== undefined) return known;
  const id = randomUUID();
  await writeDurably(join(dir, "id"), `${id}\n`);
  return id;
}

/** The id, or undefined when there is no journal. Never creates one. */
export async function readId(dir: string): Promise<string | undefined> {
  const text = await readFile(join(dir, "id"), "utf8").catch(() => "");
  return text.trim() || undefined;
}
