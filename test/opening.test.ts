import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import type { Database } from "../src/db/engine/database.ts";
import { openKeys } from "../src/installation.ts";
import { SettingsCopy } from "../src/intake/settings-copy.ts";
import { Opening } from "../src/opening.ts";
import { restoreKey, vaultOfKey } from "../src/vault.ts";
import { log, migratedDatabase, type TempDatabase } from "./db/temp-database.ts";
import { TEST_KEY } from "./support/shared-server.ts";

const dataDir = mkdtempSync(join(tmpdir(), "touchpoint-opening-"));
const config = readConfig({ DATA_DIR: dataDir });
let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(async () => {
  await database.drop();
  rmSync(dataDir, { recursive: true });
});

test("a process that started with a key that has been replaced does not go on with it", async () => {
  const oldKey = "a1".repeat(32);
  restoreKey(config, oldKey);
  const keys = await openKeys(database.pool, TEST_KEY, "existing");
  const copied = { journalId: "mine", clock: () => 0, log, applied: () => [0] };
  await new SettingsCopy({ dataDir, vault: vaultOfKey(oldKey), keys, ...copied }).store([]);
  let isAway = true;
  const opened = {
    kind: "external",
    reach: async () => {
      if (isAway) throw new Error("No answer.");
    },
    open: ({ afterMigrate }) => afterMigrate!(database.pool),
  } as Pick<Database, "kind" | "reach" | "open"> as Database;
  const opening = new Opening({ config, database: opened, lock: undefined, journalId: "mine", log, clock: () => 0 });
  expect((await opening.begin()).vault.fingerprint).toBe(vaultOfKey(oldKey).fingerprint);
  let isComplete = false;
  await opening.complete(async () => {
    isComplete = true;
  });
  // As `secret rotate` does it from elsewhere: the database names the new key already.
  restoreKey(config, TEST_KEY.secretKey);
  isAway = false;
  await expect.poll(() => opening.missing()).toMatch("The key was replaced since the start");
  expect(isComplete).toBe(false);
  await opening.stop();
});
