import { chmodSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ExternalDatabase } from "../../../sim/chaos/external-database.ts";
import { isDatabaseAway } from "../../../src/db/engine/failure.ts";
import { openPool } from "../../../src/db/engine/pool.ts";
import { query, sql } from "../../../src/db/engine/sql.ts";
import { makeAuthority } from "../../support/certificate.ts";
import { eventually, PATIENCE_MS } from "../../support/patience.ts";
import { log } from "../temp-database.ts";

/** Two PostgreSQL servers: one with TLS, one without. */
let encrypted: ExternalDatabase;
let plain: ExternalDatabase;
const authority = makeAuthority("Test authority");
const stranger = makeAuthority("Another authority");
const folder = mkdtempSync(join(tmpdir(), "touchpoint-tls-"));
const file = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const ca = file("ca.pem", authority.cert);
const strangeCa = file("strange-ca.pem", stranger.cert);

beforeAll(async () => {
  [encrypted, plain] = await Promise.all([ExternalDatabase.create(), ExternalDatabase.create()]);
  const { cert, key } = authority.issue("localhost");
  for (const [name, text] of Object.entries({ "server.crt": cert, "server.key": key, "client-ca.crt": authority.cert }))
    writeToCluster(encrypted, name, text);
  await encrypted.asSuperuser(
    "alter system set ssl_ca_file = 'client-ca.crt'",
    "alter system set ssl = on",
    "select pg_reload_conf()",
  );
  await eventually(async () => expect(await isEncrypted("sslmode=require")).toBe(true));
});
afterAll(async () => {
  await encrypted.remove();
  await plain.remove();
  rmSync(folder, { recursive: true });
});

function writeToCluster({ cluster }: ExternalDatabase, name: string, text: string): void {
  const { uid, gid } = statSync(cluster);
  writeFileSync(join(cluster, name), text, { mode: 0o600 });
  chownSync(join(cluster, name), uid, gid);
}

/** The address with `localhost` for the certificate's name, and more parameters. */
function urlOf({ url }: ExternalDatabase, parameters: string, host = "localhost"): string {
  return `${url.replace("@127.0.0.1:", `@${host}:`)}?${parameters}`;
}

async function isEncrypted(parameters: string, database = encrypted, host?: string): Promise<boolean> {
  return ask<boolean>(
    urlOf(database, parameters, host),
    "select ssl as value from pg_stat_ssl where pid = pg_backend_pid()",
  );
}

async function ask<T>(url: string, text: string, waitMs = PATIENCE_MS): Promise<T> {
  const pool = openPool({ kind: "url", url, sessions: "own" }, { log, connectionsMax: 1, name: "test", waitMs });
  try {
    const { rows } = await pool.query(text);
    return rows[0].value;
  } finally {
    await pool.end();
  }
}

describe("TLS has libpq's meaning", () => {
  test.each<[string, string, boolean | RegExp]>([
    ["the default encrypts when the server can", "", true],
    ["disable never encrypts", "sslmode=disable", false],
    ["allow does not encrypt unless it must", "sslmode=allow", false],
    ["prefer encrypts", "sslmode=prefer", true],
    ["require checks no certificate", "sslmode=require", true],
    [
      "require checks the authority when it is given",
      `sslmode=require&sslrootcert=${strangeCa}`,
      /verify the first certificate|self.signed/i,
    ],
    ["prefer falls back when the certificate is not accepted", `sslmode=prefer&sslrootcert=${strangeCa}`, false],
    ["verify-ca accepts the right authority", `sslmode=verify-ca&sslrootcert=${ca}`, true],
    [
      "verify-ca refuses another authority",
      `sslmode=verify-ca&sslrootcert=${strangeCa}`,
      /verify the first certificate|self.signed/i,
    ],
    ["verify-full accepts the right name", `sslmode=verify-full&sslrootcert=${ca}`, true],
    [
      "verify-full refuses a certificate of no public authority",
      "sslrootcert=system",
      /verify the first certificate|self.signed/i,
    ],
    ["a missing file is named", "sslmode=verify-ca&sslrootcert=/nowhere.pem", /sslrootcert cannot be read.*nowhere/],
  ])("%s", async (_, parameters, expected) => {
    if (typeof expected === "boolean") expect(await isEncrypted(parameters)).toBe(expected);
    else await expect(isEncrypted(parameters)).rejects.toThrow(expected);
  });

  test("verify-ca accepts another host name, verify-full does not", async () => {
    const at = (mode: string) => isEncrypted(`sslmode=${mode}&sslrootcert=${ca}`, encrypted, "127.0.0.1");
    expect(await at("verify-ca")).toBe(true);
    await expect(at("verify-full")).rejects.toThrow(/127\.0\.0\.1/);
  });

  test("a server without TLS is used by prefer and allow, and refused by require", async () => {
    expect(await isEncrypted("sslmode=prefer", plain)).toBe(false);
    expect(await isEncrypted("sslmode=allow", plain)).toBe(false);
    await expect(isEncrypted("sslmode=require", plain)).rejects.toThrow("The server does not support SSL connections");
  });

  test("allow encrypts when the server insists, and a client certificate is shown", async () => {
    writeToCluster(
      encrypted,
      "pg_hba.conf",
      "local all all scram-sha-256\nhostssl all all all scram-sha-256 clientcert=verify-ca\n",
    );
    await encrypted.asSuperuser("select pg_reload_conf()");
    const { cert, key } = authority.issue("touchpoint");
    const [certFile, keyFile] = [file("client.crt", cert), file("client.key", key)];
    const own = `sslcert=${certFile}&sslkey=${keyFile}`;
    await eventually(() => expect(isEncrypted("sslmode=disable")).rejects.toThrow(/no pg_hba.conf entry/));
    await expect(isEncrypted("sslmode=require")).rejects.toThrow(/certificate/);
    expect(await isEncrypted(`sslmode=allow&${own}`)).toBe(true);
    const subject = await ask(
      urlOf(encrypted, `sslmode=require&${own}`),
      "select client_dn as value from pg_stat_ssl where pid = pg_backend_pid()",
    );
    expect(subject).toBe("/CN=touchpoint");
    chmodSync(keyFile, 0o644);
    await expect(isEncrypted(`sslmode=require&${own}`)).rejects.toThrow(/client\.key of sslkey can be read by others/);
  });
});

describe("several hosts", () => {
  const login = () => plain.url.replace(/@.*/, "");
  const name = () => new URL(plain.url).pathname;
  /** Both servers have the same role and password here. */
  const both = (parameters = "") =>
    `${login()}@127.0.0.1:1,127.0.0.1:${other.port},127.0.0.1:${plain.port}${name()}?${parameters}`;
  let other: ExternalDatabase;
  const PORT = "select current_setting('port')::int as value";

  beforeAll(async () => {
    other = await ExternalDatabase.create();
    const { username, password } = new URL(plain.url);
    await other.asSuperuser(`alter role ${username} password '${password}'`);
  });
  afterAll(() => other.remove());

  test("the first that answers is used, and of several only one that can be written to", async () => {
    expect(await ask(both(), PORT)).toBe(other.port);
    const { username } = new URL(plain.url);
    await other.asSuperuser(`alter role ${username} set default_transaction_read_only = on`);
    expect(await ask(both(), PORT)).toBe(plain.port);
    expect(await ask(both("target_session_attrs=any"), PORT)).toBe(other.port);
    expect(await ask(both("target_session_attrs=primary"), PORT)).toBe(other.port);
  });

  test("a wrong password is not hidden by the next host", async () => {
    const url = both().replace(/:[^:@]*@/, ":wrong@");
    await expect(ask(url, PORT)).rejects.toMatchObject({ code: "28P01" });
  });

  test("after the end of a server the pool goes on with another, also for reports", async () => {
    const { username } = new URL(plain.url);
    await other.asSuperuser(`alter role ${username} reset default_transaction_read_only`);
    const options = { log, connectionsMax: 1, name: "test", waitMs: PATIENCE_MS };
    const pools = [
      openPool({ kind: "url", url: both(), sessions: "own" }, options),
      openPool(
        { kind: "url", url: both(), sessions: "own" },
        { ...options, readOnly: { timeoutMs: PATIENCE_MS, cores: "one" } },
      ),
    ];
    const ports = () =>
      Promise.all(
        pools.map(
          async (pool) =>
            (await query<{ value: number }>(pool, sql`select current_setting('port')::int as value`))[0]!.value,
        ),
      );
    expect(await ports()).toEqual([other.port, other.port]);
    await other.stop();
    expect(await eventually(ports)).toEqual([plain.port, plain.port]);
    await plain.asSuperuser(`alter role ${username} set default_transaction_read_only = on`);
    await expect(ask(both(), PORT)).rejects.toSatisfy(isDatabaseAway);
    await expect(ask(both(), PORT)).rejects.toThrow(
      /No host of the database can be used\..*ECONNREFUSED.*is read-only/,
    );
    for (const pool of pools) await pool.end();
  });
});
