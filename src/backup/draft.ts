import { createHash } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { startOf } from "../data-lock.ts";
import { MANIFEST } from "./manifest.ts";
import { JOURNAL_FOLDER } from "./saved-journal.ts";
import { LAKE_FOLDER } from "./saved-lake.ts";

export const TABLE_FOLDER = "tables";

const NAME = /\.unfinished-(?<host>[\w.-]+)-(?<pid>\d+)-(?<start>[0-9a-f]{12})$/;
const PARTS: ReadonlySet<string> = new Set([TABLE_FOLDER, JOURNAL_FOLDER, LAKE_FOLDER, MANIFEST, `${MANIFEST}.draft`]);

/**
 * The name of a backup while this process writes or removes it, or of the folder of a trial. It tells whose it is: in a
 * container every server may be process 1, and other hosts may use the same disk.
 */
export function draftOf(dir: string): string {
  return `${dir}.unfinished-${ownHost()}-${process.pid}-${digestOfStart(process.pid)}`;
}

/** The name that the backup is going to have. */
export function placeOf(draft: string): string {
  return draft.replace(NAME, "");
}

/** Removes drafts of processes of this host that are gone. Nobody here can tell whether one of another host still runs. */
export async function removeLeftovers(parent: string): Promise<void> {
  for (const path of await leftoversIn(parent))
    if (await holdsOnly(path, PARTS)) await rm(path, { recursive: true, force: true });
}

/** What has the name of a draft of a process of this host that is gone. */
export async function leftoversIn(parent: string): Promise<string[]> {
  const names = await readdir(parent).catch(() => []);
  return names.filter(isLeftover).map((name) => join(parent, name));
}

function isLeftover(name: string): boolean {
  const owner = NAME.exec(name)?.groups;
  return owner?.host === ownHost() && digestOfStart(Number(owner.pid)) !== owner.start;
}

/** Whether there is nothing in the folder but these. */
export async function holdsOnly(path: string, parts: ReadonlySet<string>): Promise<boolean> {
  const found = await readdir(path).catch(() => undefined);
  return found?.every((name) => parts.has(name)) ?? false;
}

function ownHost(): string {
  return hostname().replaceAll(/[^\w.-]/g, "_");
}

/** Tells a process from a later one with the same number. */
function digestOfStart(pid: number): string {
  return createHash("sha256")
    .update(startOf(pid) ?? "")
    .digest("hex")
    .slice(0, 12);
}
