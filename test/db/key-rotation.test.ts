import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rotateKey } from "../../src/admin/session/key-rotation.ts";
import type { Clock } from "../../src/clock.ts";
import { loadApps } from "../../src/db/app.ts";
import { beginAuthorisation } from "../../src/db/authorisation.ts";
import { loadCallbacks, storeCallback } from "../../src/db/callback.ts";
import { createDeveloperApp, loadDeveloperApps } from "../../src/db/developer-app.ts";
import { openPool } from "../../src/db/engine/pool.ts";
import { loadMediaTokens, storeMediaToken } from "../../src/db/media-token.ts";
import { loadAccounts, storeAccount } from "../../src/db/platform-account.ts";
import { loadPlatformSecrets, storePlatformSecret } from "../../src/db/platform-secret.ts";
import { SEALED_COLUMNS } from "../../src/db/sealed.ts";
import { beginSecondFactor, loadSecondFactor } from "../../src/db/second-factor.ts";
import { openKeys } from "../../src/installation.ts";
import { openVault, type Vault, vaultOfKey } from "../../src/vault.ts";
import { connectionTo, TEST_KEY } from "../support/shared-server.ts";
import { log, makeApp, migratedDatabase, rowsOf, type TempDatabase, vault } from "./temp-database.ts";

const NEW_KEY = "e5".repeat(32);
const NEW_LOCATION = { dataDir: "", secretKey: NEW_KEY };
let database: TempDatabase;
let folder: string;
beforeEach(async () => {
  database = await migratedDatabase();
  folder = mkdtempSync(join(tmpdir(), "touchpoint-rotate-"));
  await fill();
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});

/** Stores at least one secret in every column that holds any. */
async function fill(): Promise<void> {
  const { pool } = database;
  const { appId } = await makeApp(pool);
  await makeApp(pool);
  const rate = { calls: 1, windowS: 1 };
  await createDeveloperApp(pool, vault, { name: "BI", purpose: "", apps: "all", rate, createdAtMs: 0 });
  const account = { appId, adPlatform: "tencent", advertiserId: "", postbacks: true, costs: true, ratePerS: 0 };
  const state = {
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
  await storeAccount(pool, vault, { ...account, ...state, settings: {}, secrets: { access_token: "s1" } }, 0);
  await storePlatformSecret(pool, vault, { appId, platform: "baidu", name: "akey", value: "s2" });
  await storeMediaToken(pool, vault, { appId, platform: "wechat", token: "s3", refreshedAtMs: 0 });
  const callback = { appId, kind: "event" as const, url: "https://a.example/", events: ["e"], enabled: true };
  await storeCallback(pool, vault, { ...callback, secret: "s4" }, 0);
  const begun = { appId, adPlatform: "tencent", redirectUrl: "https://a.example/", session: "s", nowMs: 0 };
  await beginAuthorisation(pool, vault, begun, { client_secret: "s5" });
  await beginSecondFactor(pool, vault, { userId: 1, secret: Buffer.from("s6") });
}

/** Every secret in the clear. */
async function opened(by: Vault) {
  const { pool } = database;
  return {
    apps: await loadApps(pool, by),
    developers: await loadDeveloperApps(pool, by),
    accounts: await loadAccounts(pool, by),
    platforms: await loadPlatformSecrets(pool, by),
    media: await loadMediaTokens(pool, by),
    callbacks: await loadCallbacks(pool, by),
    secondFactor: await loadSecondFactor(pool, by, 1),
  };
}

const sealedRows = () => Promise.all(SEALED_COLUMNS.map(({ table }) => rowsOf(database.pool, table)));
const BY = { name: "mei", address: "" };
const deskOf = (from: Vault, clock: Clock = () => 1) => ({ pool: database.pool, vault: from, clock, by: BY });
const rotate = (key: string) => rotateKey(deskOf(vault), { location: TEST_KEY, key });

test("every secret is the same under the new key, and none opens with the old one", async () => {
  const keys = await openKeys(database.pool, TEST_KEY, "existing");
  const before = await opened(vault);
  for (const rows of await sealedRows()) expect(rows).not.toEqual([]);
  expect(await rotate(NEW_KEY)).toBe(13);
  expect(await opened(vaultOfKey(NEW_KEY))).toEqual(before);
  for (const { table, column } of SEALED_COLUMNS)
    for (const row of await rowsOf(database.pool, table))
      expect(() => vault.open((row as Record<string, string>)[column]!)).toThrow();
  await expect(openKeys(database.pool, TEST_KEY, "existing")).rejects.toThrow(/SECRET_KEY is wrong/);
  // Users' tokens and digests of erased users do not change.
  const { vault: _, ...kept } = keys;
  expect(await openKeys(database.pool, NEW_LOCATION, "existing")).toMatchObject(kept);
});

test("a secret that does not open fails the whole rotation: nothing changes, and its column is named", async () => {
  await database.pool.query("update callback set secret_sealed = $1", [vaultOfKey(NEW_KEY).seal("foreign")]);
  const before = await sealedRows();
  await expect(rotate(NEW_KEY)).rejects.toThrow("A secret in callback.secret_sealed was sealed with another key.");
  expect(await sealedRows()).toEqual(before);
  expect((await openKeys(database.pool, TEST_KEY, "existing")).vault.fingerprint).toBe(vault.fingerprint);
});

test("the current key is refused as the new one", async () => {
  await expect(rotate(TEST_KEY.secretKey)).rejects.toThrow(/is the current one/);
});

test("nothing is rotated while another process uses the database", async () => {
  const other = openPool(connectionTo(database.name), { log, connectionsMax: 1, name: "apply" });
  await other.query("select 1");
  await expect(rotate(NEW_KEY)).rejects.toThrow(/1 connections to this database belong to running servers/);
  await other.end();
});

test("with the key in a file, a crash at any moment leaves the key that opens the database", async () => {
  const location = { dataDir: folder, secretKey: "" };
  const [file, next] = [join(folder, "secret.key"), join(folder, "secret.key.new")];
  writeFileSync(file, `${TEST_KEY.secretKey}\n`);
  const from = openVault(location);
  const crash = new Error("crash");
  // Between the resealed secrets and the note.
  const crashing = () => {
    expect(existsSync(next), "on the disk before anything is sealed with it").toBe(true);
    throw crash;
  };
  // Before the commit the old key is valid.
  await expect(rotateKey(deskOf(from, crashing), { location })).rejects.toBe(crash);
  expect((await openKeys(database.pool, location, "existing")).vault.fingerprint).toBe(from.fingerprint);
  // After the commit, before the file is replaced, the new key is valid and takes its place.
  await rotateKey(deskOf(from), { location });
  const key = readFileSync(file, "utf8");
  expect(key).not.toBe(`${TEST_KEY.secretKey}\n`);
  renameSync(file, next);
  writeFileSync(file, `${TEST_KEY.secretKey}\n`);
  const { vault: found } = await openKeys(database.pool, location, "existing");
  expect([readFileSync(file, "utf8"), existsSync(next)]).toEqual([key, false]);
  expect((await opened(found)).apps).toHaveLength(2);
});
