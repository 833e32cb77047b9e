import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { draftOf, placeOf, removeLeftovers } from "../../src/backup/draft.ts";

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "touchpoint-drafts-"));
});
afterEach(() => rmSync(parent, { recursive: true }));

/** Another process's name for the same draft. */
const GONE_START = "0123456789ab";
const mine = () => basename(draftOf(join(parent, "backup")));
const ofEarlierProcess = () => mine().replace(/[0-9a-f]{12}$/, GONE_START);

test("a draft becomes the backup by losing the end of its name", () => {
  expect(placeOf(draftOf("/backups/b"))).toBe("/backups/b");
  expect(placeOf("/backups/b")).toBe("/backups/b");
});

test("a draft is removed once its process is gone, even if this one has the same number", async () => {
  for (const name of [mine(), ofEarlierProcess()]) mkdirSync(join(parent, name, "tables"), { recursive: true });
  await removeLeftovers(parent);
  expect(readdirSync(parent)).toEqual([mine()]);
});

test("drafts of other hosts are left alone, and so is what is no backup of ours", async () => {
  const elsewhere = `backup.unfinished-another.host-7-${GONE_START}`;
  mkdirSync(join(parent, elsewhere, "tables"), { recursive: true });
  mkdirSync(join(parent, "letters.unfinished-999999999"));
  mkdirSync(join(parent, ofEarlierProcess()));
  writeFileSync(join(parent, ofEarlierProcess(), "novel.txt"), "");
  writeFileSync(join(parent, `x${ofEarlierProcess()}`), "");
  const before = readdirSync(parent);
  await removeLeftovers(parent);
  expect(readdirSync(parent)).toEqual(before);
});
