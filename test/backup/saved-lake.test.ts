import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, expect, test } from "vitest";
import { packFile } from "../../src/backup/packed-file.ts";
import { LAKE_FOLDER, placeLake, planLake } from "../../src/backup/saved-lake.ts";
import { Aside } from "../../src/backup/target.ts";
import { LAKE_ID_FILE, lakeFolderOf, pathIn, readLakeId } from "../../src/lake/lake-folder.ts";
import { NOW_MS } from "../db/apply-stage.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-saved-lake-"));
  folders.push(folder);
  return folder;
}

async function savedLake(dir: string) {
  mkdirSync(join(dir, LAKE_FOLDER));
  const keys = ["one", "two"].map((name) => ({ app: 7, day: "2024-06-06", name }));
  const files = [];
  for (const key of keys) {
    const source = Readable.from([Buffer.from(key.name)]);
    files.push({ ...key, ...(await packFile({ dir, path: `${LAKE_FOLDER}/${key.name}.parquet.gz`, source })) });
  }
  return { id: "saved", files };
}

test("a lake whose restore was interrupted is restored by a repetition, and another one is refused", async () => {
  const [dir, dataDir] = [newFolder(), newFolder()];
  const lake = await savedLake(dir);
  const root = lakeFolderOf({ dataDir });
  const restore = async () => {
    const plan = await planLake({ dataDir }, { lake, existing: "refuse" });
    await placeLake({ dataDir }, { dir, lake, plan, aside: new Aside(dataDir, NOW_MS) });
    return plan;
  };
  const second = join(dir, LAKE_FOLDER, "two.parquet.gz");
  const bytes = readFileSync(second);
  rmSync(second);
  await expect(restore()).rejects.toThrow();
  expect(await readLakeId(root)).toBeUndefined();
  writeFileSync(second, bytes);
  expect([await restore(), await readLakeId(root)]).toEqual(["none", "saved"]);
  for (const { app: appId, day, name } of lake.files)
    expect(readFileSync(pathIn(root, { appId, kind: "events", day, name }), "utf8")).toBe(name);
  expect(await restore()).toBe("kept");
  writeFileSync(join(root, LAKE_ID_FILE), "another");
  await expect(restore()).rejects.toThrow("holds another lake");
});
