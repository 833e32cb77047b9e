import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { insertApp } from "../../src/db/app.ts";
import { ErasureDigest } from "../../src/db/erased-user.ts";
import { storeMediaToken } from "../../src/db/media-token.ts";
import { SEALED_COLUMNS } from "../../src/db/sealed.ts";
import { md5 } from "../../src/domain/user/identity.ts";
import { openKeys } from "../../src/installation.ts";
import { openVault } from "../../src/vault.ts";
import { TEST_KEY } from "../support/shared-server.ts";
import { makeApp, migratedDatabase, rowsOf, type TempDatabase, vault } from "./temp-database.ts";

const OTHER_KEY = { dataDir: "", secretKey: "d4".repeat(32) };
const folder = mkdtempSync(join(tmpdir(), "touchpoint-keys-"));
let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});

/** The state left by an earlier version: sealed secrets, and no record of their key. */
beforeEach(async () => {
  for (const table of ["installation", "installation_secret", "app", "media_token", "erased_user"])
    await database.pool.query(`delete from ${table}`);
});

const forgetInstallation = () =>
  database.pool.query("with gone as (delete from installation_secret) delete from installation");

describe("an empty database", () => {
  test("becomes the installation of the first key, and of no other", async () => {
    const keys = await openKeys(database.pool, TEST_KEY, "first");
    expect(keys.vault.fingerprint).toBe(vault.fingerprint);
    expect(await openKeys(database.pool, TEST_KEY, "existing")).toMatchObject({
      userTokenKey: keys.userTokenKey,
      erasureKey: keys.erasureKey,
    });
    await expect(openKeys(database.pool, OTHER_KEY, "first")).rejects.toThrow(
      /^SECRET_KEY is wrong: .* sealed with another key/,
    );
    expect(await rowsOf(database.pool, "installation")).toMatchObject([{ key_fingerprint: vault.fingerprint }]);
  });

  test("gets a key file when something may begin, and none for a reader", async () => {
    const location = { dataDir: join(folder, "first"), secretKey: "" };
    await expect(openKeys(database.pool, location, "existing")).rejects.toThrow(/The database is empty/);
    expect(existsSync(location.dataDir)).toBe(false);
    await openKeys(database.pool, location, "first");
    expect(readFileSync(join(location.dataDir, "secret.key"), "utf8")).toMatch(/^[0-9a-f]{64}\n$/);
    const elsewhere = { dataDir: join(folder, "elsewhere"), secretKey: "" };
    await expect(openKeys(database.pool, elsewhere, "first")).rejects.toThrow(
      /^There is no key in .*elsewhere\/secret\.key: .* Set DATA_DIR .* or SECRET_KEY/,
    );
    expect(existsSync(elsewhere.dataDir)).toBe(false);
  });

  test("that several processes begin at once belongs to one of them", async () => {
    const locations = ["a", "b", "c"].map((name) => ({ dataDir: join(folder, name), secretKey: "" }));
    const opened = await Promise.allSettled(locations.map((location) => openKeys(database.pool, location, "first")));
    expect(opened.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(locations.filter(({ dataDir }) => existsSync(dataDir))).toHaveLength(1);
  });
});

describe("secrets sealed by an earlier version", () => {
  test("are all opened before the key is accepted; users' tokens stay valid", async () => {
    await openKeys(database.pool, TEST_KEY, "first");
    await makeApp(database.pool);
    await forgetInstallation();
    await expect(openKeys(database.pool, OTHER_KEY, "first")).rejects.toThrow(
      /SECRET_KEY is wrong.*app\.app_key_sealed/,
    );
    await expect(openKeys(database.pool, { dataDir: join(folder, "none"), secretKey: "" }, "first")).rejects.toThrow(
      /There is no key in/,
    );
    expect(await rowsOf(database.pool, "installation")).toEqual([]);
    const { userTokenKey } = await openKeys(database.pool, TEST_KEY, "existing");
    expect(userTokenKey).toEqual(vault.keyFor("user-token"));
  });

  test("are refused if they were sealed with two keys", async () => {
    await openKeys(database.pool, TEST_KEY, "first");
    await makeApp(database.pool);
    await storeMediaToken(database.pool, vault, { appId: 1, platform: "wechat", token: "t", refreshedAtMs: 1 });
    const foreign = openVault(OTHER_KEY).seal("t");
    await database.pool.query("update media_token set token_sealed = $1", [foreign]);
    await forgetInstallation();
    for (const location of [TEST_KEY, OTHER_KEY])
      await expect(openKeys(database.pool, location, "first")).rejects.toThrow(/A secret in \w+\.\w+ was sealed with/);
  });

  test("include digests of erased users that no list of ids reveals, and that are still recognised", async () => {
    const erased = (digest: string, position: number) =>
      database.pool.query("insert into erased_user values (7, $1, 'j', $2, 0)", [digest, position]);
    await erased(md5("7\nada"), 1);
    await erased(md5("7\nada"), 2);
    await erased(md5("7\nbob"), 3);
    const { erasureKey } = await openKeys(database.pool, TEST_KEY, "first");
    const digest = new ErasureDigest(erasureKey);
    const of = (clientId: string) => ({ client_digest: digest.of({ appId: 7, clientId }) });
    expect(await rowsOf(database.pool, "erased_user")).toHaveLength(3);
    expect(await rowsOf(database.pool, "erased_user")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ ...of("ada"), position: 1 }),
        expect.objectContaining({ ...of("ada"), position: 2 }),
        expect.objectContaining({ ...of("bob"), position: 3 }),
      ]),
    );
    const other = new ErasureDigest(Buffer.alloc(32));
    expect(other.of({ appId: 7, clientId: "ada" })).not.toBe(of("ada").client_digest);
  });
});

test("a process whose key was replaced meanwhile seals nothing more", async () => {
  await openKeys(database.pool, TEST_KEY, "first");
  const stale = openVault(OTHER_KEY);
  const app = { name: "Late", timeZone: "UTC", metadataMode: "open" as const, createdAtMs: 0 };
  await expect(insertApp(database.pool, stale, app)).rejects.toThrow(/restart it with the current SECRET_KEY/);
  expect(await rowsOf(database.pool, "app")).toEqual([]);
});

test("every column with a sealed secret is in the list for key rotation", async () => {
  const { rows } = await database.pool.query<{ table: string; column: string }>(
    `select table_name as table, column_name as column from information_schema.columns
      where table_schema = 'public' and column_name like '%sealed%'`,
  );
  const named = ({ table, column }: { table: string; column: string }) => `${table}.${column}`;
  expect(SEALED_COLUMNS.map(named).sort()).toEqual(rows.map(named).sort());
});
