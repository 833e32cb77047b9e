import { isAbsolute } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../src/config.ts";
import { UsageError } from "../src/errors.ts";
import { unaskedThreads } from "../src/setting-reader.ts";
import { SETTINGS } from "../src/settings.ts";

const MIB = 1024 * 1024;

test("without settings the defaults apply, and the configuration is frozen", () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    port: 8080,
    host: "0.0.0.0",
    databaseUrl: "",
    logLevel: "info",
    bodyBytesMax: 2 * MIB,
  });
  expect(config.bodyUnpackedBytesMax).toBe(16 * MIB);
  expect([...config.roles]).toEqual(SETTINGS.ROLES.fallback.split(","));
  expect(isAbsolute(config.dataDir)).toBe(true);
  expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError);
});

test.each<[string, string, string, unknown]>([
  ["PORT", "0", "port", 0],
  ["PORT", " 9000 ", "port", 9000],
  ["PORT", "", "port", 8080],
  ["BODY_BYTES_MAX", "512KiB", "bodyBytesMax", 512 * 1024],
  ["BODY_BYTES_MAX", "4096", "bodyBytesMax", 4096],
  ["BODY_BYTES_MAX", "3 mib", "bodyBytesMax", 3 * MIB],
  ["DISK_FREE_BYTES_MIN", "0", "diskFreeBytesMin", 0],
  ["JOURNAL_BACKLOG_BYTES_MAX", "20GiB", "journalBacklogBytesMax", 20 * 1024 * MIB],
  ["TRUSTED_PROXIES", "10.0.0.0/8, ::1 ,192.168.0.1", "trustedProxies", ["10.0.0.0/8", "::1", "192.168.0.1"]],
  ["TRUSTED_PROXIES", "", "trustedProxies", []],
  ["ROLES", "apply", "roles", new Set(["apply"])],
  ["DATABASE_URL", "postgres://u:p@h/db", "databaseUrl", "postgres://u:p@h/db"],
  ["INTAKE_THREADS", "0", "intakeThreads", 0],
  ["INTAKE_THREADS", "64", "intakeThreads", 64],
  ["SECRET_KEY", "AB".repeat(32), "secretKey", "ab".repeat(32)],
  ["LOG_URL", "", "jetstream", undefined],
])("%s=%j is read as %s %j", (name, text, field, expected) => {
  expect(readConfig({ [name]: text })[field as "port"]).toEqual(expected);
});

const BAD: [string, string][] = [
  ["PORT", "65536"],
  ["PORT", "-1"],
  ["PORT", "80.5"],
  ["PORT", "1e3"],
  ["PORT", "0x50"],
  ["DATABASE_URL", "mysql://h/db"],
  ["REPORT_DATABASE_URL", "postgres://one,other/db"],
  ["DATABASE_CONNECTIONS_MAX", "1"],
  ["LOG_LEVEL", "verbose"],
  ["ROLES", "http,cook"],
  ["LOG_URL", "http://a"],
  ["LOG_URL", "nats://a?replicas=2"],
  ["ROLES", ","],
  ["TRUSTED_PROXIES", "proxy.example"],
  ["TRUSTED_PROXIES", "10.0.0.0/33"],
  ["TRUSTED_PROXIES", "::1/129"],
  ["TRUSTED_PROXIES", "10.0.0.0/"],
  ["BODY_BYTES_MAX", "2MB"],
  ["BODY_BYTES_MAX", "1"],
  ["BODY_UNPACKED_BYTES_MAX", "1GiB"],
  ["REQUEST_TIMEOUT_S", "0"],
  ["CONNECTIONS_MAX", "0"],
  ["JOURNAL_PENDING_BYTES_MAX", "64"],
  ["JOURNAL_BACKLOG_BYTES_MAX", "-1"],
  ["JOURNAL_KEEP_DAYS", "1.5"],
  ["DISK_FREE_BYTES_MIN", "a lot"],
  ["EVENT_RETENTION_DAYS", "forever"],
  ["EVENT_HOT_DAYS", "all"],
  ["KNOWN_CLIENTS_MAX", "10"],
  ["INTAKE_THREADS", "65"],
  ["SECRET_KEY", "short"],
  ["LAKE_BUCKET_URL", "https://bucket"],
  ["LAKE_BUCKET_URL", "s3://UPPER/prefix"],
  ["LAKE_BUCKET_URL", "s3://bucket//prefix"],
  ["LAKE_BUCKET_URL", "s3://bucket/a/../b"],
  ["LAKE_BUCKET_ENDPOINT", "minio:9000"],
  ["LAKE_BUCKET_STYLE", "dns"],
];

test.each(BAD)("%s=%j is refused in a sentence that names it", (name, text) => {
  expect(() => readConfig({ [name]: text })).toThrow(new RegExp(`^Bad settings:\\n {2}${name}=.+\\.$`));
});

test.each([
  ["http", 1, 0],
  ["http", 2, 1],
  ["http", 40, 16],
  ["http,apply", 2, 0],
  ["http,apply", 8, 6],
])("without INTAKE_THREADS, ROLES=%s on %d cores has %d threads", (roles, cores, threads) => {
  expect(unaskedThreads(new Set(roles.split(",")), cores)).toBe(threads);
});

test("one error names every bad setting, and shows no secret", () => {
  const env = { ...Object.fromEntries(BAD), DATABASE_URL: "mysql://u:hunter2@h/db", SECRET_KEY: "hunter3" };
  const error = failureOf(() => readConfig(env));
  expect(error).toBeInstanceOf(UsageError);
  for (const name of Object.keys(env)) expect(error.message).toContain(`\n  ${name}=`);
  expect(error.message).not.toMatch(/hunter/);
});

test("a log that others share needs connections to listen on", () => {
  const env = { LOG_URL: "nats://a", DATABASE_CONNECTIONS_MAX: "3" };
  expect(() => readConfig(env)).toThrow(/DATABASE_CONNECTIONS_MAX: must be at least 4 with LOG_URL/);
  expect(readConfig({ ...env, DATABASE_CONNECTIONS_MAX: "4" }).databaseConnectionsMax).toBe(4);
});

test.each<[Record<string, string>, RegExp]>([
  [{ EVENT_HOT_DAYS: "2" }, /EVENT_HOT_DAYS: must be 0, or at least 3/],
  [{ EVENT_HOT_DAYS: "30", EVENT_RETENTION_DAYS: "30" }, /less than EVENT_RETENTION_DAYS/],
  [{ EVENT_HOT_DAYS: "30", ROLES: "http,apply" }, /roles apply and lake in one process/],
  [{ EVENT_HOT_DAYS: "30", LOG_URL: "nats://a", DATABASE_CONNECTIONS_MAX: "4" }, /does not work with LOG_URL/],
])("days that are only in the lake need what reads them: %j", (env, sentence) => {
  expect(() => readConfig(env)).toThrow(sentence);
  expect(readConfig({ EVENT_HOT_DAYS: "30", EVENT_RETENTION_DAYS: "31" }).eventHotDays).toBe(30);
});

test("a bucket needs a key, and its prefix ends with one slash", () => {
  const env = { LAKE_BUCKET_URL: "s3://my-bucket/a/b/", LAKE_BUCKET_KEY_ID: "id", LAKE_BUCKET_KEY: "hunter4" };
  expect(() => readConfig({ ...env, LAKE_BUCKET_KEY: "" })).toThrow(/must be set with LAKE_BUCKET_URL/);
  expect(readConfig(env).lakeBucket).toEqual({
    address: { bucket: "my-bucket", prefix: "a/b/" },
    endpoint: "",
    region: "us-east-1",
    keyId: "id",
    key: "hunter4",
    style: "path",
  });
  expect(readConfig({ ...env, LAKE_BUCKET_URL: "s3://my-bucket" }).lakeBucket?.address.prefix).toBe("");
  expect(readConfig({}).lakeBucket).toBeUndefined();
});

test("every default is a valid value of its setting, and every setting has a hint", () => {
  for (const [name, { fallback, read, hint }] of Object.entries(SETTINGS)) {
    expect(() => read(fallback), name).not.toThrow();
    expect(hint, name).not.toBe("");
  }
});

function failureOf(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("It did not fail.");
}
