import pg from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Address, readAddress } from "../../../src/db/server/address.ts";
import { Server } from "../../../src/db/server/server.ts";

test.each<[string, Partial<Address>]>([
  ["postgres://u:p@h/db", { hosts: [{ host: "h", port: 5432 }], user: "u", password: "p", database: "db" }],
  ["postgresql://h", { hosts: [{ host: "h", port: 5432 }], user: undefined, password: undefined, database: undefined }],
  ["postgres://u:p%40%2F%25@h/d%20b", { user: "u", password: "p@/%", database: "d b" }],
  ["postgres://u:a@b@h/db", { password: "a@b", hosts: [{ host: "h", port: 5432 }] }],
  ["postgres://h:6000/db", { hosts: [{ host: "h", port: 6000 }] }],
  ["postgres://[::1]:6000/db", { hosts: [{ host: "::1", port: 6000 }] }],
  ["postgres://%2Frun%2Fpg/db", { hosts: [{ host: "/run/pg", port: 5432 }] }],
  ["postgres:///db?host=/run/pg&port=6000", { hosts: [{ host: "/run/pg", port: 6000 }] }],
  ["postgres://x:6000/db?host=/run/pg", { hosts: [{ host: "/run/pg", port: 6000 }] }],
  ["postgres:///db", { hosts: [{ host: "localhost", port: 5432 }] }],
  ["postgres://h?dbname=d&user=v&password=w", { database: "d", user: "v", password: "w" }],
  ["postgres://h/db?connect_timeout=3", { hostMs: 3_000 }],
  ["postgres://h/db?application_name=x&keepalives_idle=5", { hosts: [{ host: "h", port: 5432 }] }],
])("%s is read as libpq reads it", (url, expected) => {
  expect(readAddress(url)).toMatchObject(expected);
});

test("several hosts have a port each, or one for all, and must be writable unless the address says otherwise", () => {
  const both = [
    { host: "a", port: 1 },
    { host: "b", port: 2 },
  ];
  expect(readAddress("postgres://a:1,b:2/db")).toMatchObject({ hosts: both, attrs: "read-write" });
  expect(readAddress("postgres:///db?host=a,b&port=1,2")).toMatchObject({ hosts: both });
  const oneForAll = readAddress("postgres:///db?host=a,b&port=7").hosts;
  expect(oneForAll.map(({ port }) => port)).toEqual([7, 7]);
  expect(readAddress("postgres://a,b/db?target_session_attrs=any").attrs).toBe("any");
  expect(readAddress("postgres://a/db").attrs).toBe("any");
  expect(readAddress("postgres://a/db?target_session_attrs=primary").attrs).toBe("primary");
});

test.each<[string, string]>([
  ["", "prefer"],
  ["ssl=true", "require"],
  ["sslmode=disable", "disable"],
  ["sslmode=allow", "allow"],
  ["sslmode=verify-ca&sslrootcert=ca.pem", "verify-ca"],
  ["sslrootcert=system", "verify-full"],
])("?%s means sslmode %s", (query, mode) => {
  expect(readAddress(`postgres://h/db?${query}`).tls.mode).toBe(mode);
});

test("options become parameters, in both forms and with escaped spaces", () => {
  const options = encodeURIComponent("-c search_path=a,b  -cgeqo=off --lock-timeout=5s -c DateStyle=ISO,\\ DMY");
  expect(readAddress(`postgres://h/db?options=${options}`).parameters).toEqual([
    ["search_path", "a,b"],
    ["geqo", "off"],
    ["lock_timeout", "5s"],
    ["DateStyle", "ISO, DMY"],
  ]);
});

test.each<[string, RegExp]>([
  ["postgres://h:x/db", /host that is not a name/],
  ["postgres://h:70000/db", /port that is not from 1 to 65535/],
  ["postgres:///db?host=a,b,c&port=1,2", /3 hosts and 2 ports/],
  ["postgres://u:%zz@h/db", /write % itself as %25/],
  ["postgres://h/db?sslmode=no-verify", /sslmode=no-verify, which must be one of disable, allow/],
  ["postgres://h/db?sslmode=verify-full", /without sslrootcert: .*sslrootcert=system/],
  ["postgres://h/db?sslmode=require&sslrootcert=system", /use verify-full/],
  ["postgres://h/db?sslcert=a.pem", /both sslcert and sslkey/],
  ["postgres://h/db?target_session_attrs=standby", /Touchpoint writes: use read-write or primary/],
  ["postgres://h/db?target_session_attrs=best", /must be one of any, read-write, primary/],
  ["postgres://h/db?options=-d", /another form than -c name=value/],
  ["postgres://h/db?connect_timeout=soon", /connect_timeout that is not a number of seconds/],
  ["postgres://h/db?sslcrl=a", /parameter sslcrl, which is not supported/],
  ["postgres://h/db#x", /must have the form/],
])("%s is refused, and the sentence helps", (url, sentence) => {
  expect(() => readAddress(url)).toThrow(sentence);
});

test("a refusal does not show the password", () => {
  for (const url of ["postgres://u:hidden@h:x/db", "postgres://u:hidden%zz@h/db", "postgres://u:hidden@h/db?a=b"])
    expect(() => readAddress(url)).not.toThrow(/hidden/);
  for (const url of ["postgres://u:a?hidden@h/db", "postgres://u:a?hidden=b@h/db", "postgres://u:a?HIDDEN&b=c"]) {
    expect(() => readAddress(url)).not.toThrow(/hidden/i);
    expect(() => readAddress(url)).toThrow("write a ? in a password as %3F.");
  }
});

test("of libpq's variables, those of user, password and database complete an address, and no other does", async () => {
  const variables = { PGUSER: "u", PGPASSWORD: "p", PGDATABASE: "d", PGHOST: "elsewhere", PGPORT: "6000" };
  for (const [name, value] of Object.entries({ ...variables, PGSSLMODE: "require" })) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = new Server({ kind: "url", url: "postgres://?sslmode=disable", sessions: "own" });
  const client = new pg.Client(await server.target(1_000));
  expect(client).toMatchObject({ user: "u", password: "p", database: "d", host: "localhost", port: 5432, ssl: false });
});
