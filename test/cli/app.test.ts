import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;
const EVENT = { type: "track", event: "e", properties: {} };

const collectCode = async (accessToken: string, clientId: string) => {
  const body = { client_id: clientId, event_list: [{ ...EVENT, time: Date.now() }] };
  return (await server.post("event/collect/", { accessToken }, body)).code;
};

test("app create prints the id and the keys, and the token works at once", async () => {
  const made = await cliJson(dataDir, ["app", "create", "--name", "游戏 1"]);
  expect(made).toEqual({
    app_id: expect.any(Number),
    name: "游戏 1",
    access_token: expect.stringMatching(/^\w{16,}$/),
    app_key: expect.stringMatching(/^\w{16,}$/),
    aes_key: expect.any(String),
    time_zone: "Asia/Shanghai",
    currency: "CNY",
    rates: {},
    metadata: "open",
    require_registration: true,
    enabled: true,
    pay_share: 1,
    refunds_on: "order",
  });
  expect([16, 24, 32]).toContain(Buffer.from(made.aes_key, "base64").length);
  const app = { accessToken: made.access_token } as App;
  expect((await server.register(app, "c")).code).toBe(0);
  expect(await collectCode(made.access_token, "c")).toBe(0);
});

test("app create without --json prints the same for people", async () => {
  const result = await cli(dataDir, ["app", "create", "--name", "Plain", "--time-zone", "UTC", "--metadata", "strict"]);
  expect(result).toMatchObject({ code: 0, stderr: "" });
  for (const line of [/^app_id +\d+$/m, /^access_token +\w+$/m, /^app_key +\w+$/m, /^aes_key +\S+$/m]) {
    expect(result.stdout).toMatch(line);
  }
  expect(result.stdout).toMatch(/^time_zone +UTC$/m);
  expect(result.stdout).toMatch(/^metadata +strict$/m);
});

test("app list shows every app, and its secrets only with --keys", async () => {
  const app = await server.createApp({ name: "Listed" });
  const [plain, keys, table] = await Promise.all([
    cliJson(dataDir, ["app", "list"]),
    cliJson(dataDir, ["app", "list", "--keys"]),
    cli(dataDir, ["app", "list"]),
  ]);
  const isThis = (row: { app_id: number }) => row.app_id === app.appId;
  expect(plain.find(isThis)).toMatchObject({ name: "Listed", access_token: app.accessToken });
  expect(JSON.stringify(plain)).not.toMatch(/app_key|aes_key/);
  expect(keys.find(isThis)).toMatchObject({ app_key: app.appKey, aes_key: app.aesKey });
  expect(table.stdout).toMatch(new RegExp(`^ *${app.appId} +Listed +${app.accessToken}`, "m"));
  expect(table.stdout).not.toContain(app.appKey);
});

test("app set changes each setting and prints the updated app", async () => {
  const { appId } = await server.createApp({ timeZone: "Asia/Tokyo" });
  const id = String(appId);
  const first = ["--name", "Renamed", "--currency", "USD", "--rate", "CNY=0.14", "--rate", "JPY=0.0067"];
  expect(await cliJson(dataDir, ["app", "set", id, ...first])).toMatchObject({
    app_id: appId,
    name: "Renamed",
    currency: "USD",
    rates: { CNY: "0.14", JPY: "0.0067" },
    time_zone: "Asia/Tokyo",
    metadata: "open",
  });
  const second = ["--time-zone", "Europe/Paris", "--metadata", "strict", "--rate", "CNY=0.15"];
  expect(await cliJson(dataDir, ["app", "set", id, ...second])).toMatchObject({
    name: "Renamed",
    time_zone: "Europe/Paris",
    metadata: "strict",
    rates: { CNY: "0.15", JPY: "0.0067" },
    require_registration: true,
    enabled: true,
  });
  const third = ["--require-registration", "off", "--enabled", "off"];
  expect(await cliJson(dataDir, ["app", "set", id, ...third])).toMatchObject({
    require_registration: false,
    enabled: false,
  });
});

test("a running server follows app set: enabled and require-registration", async () => {
  const { appId, accessToken } = await server.createApp();
  const set = (...options: string[]) => cliJson(dataDir, ["app", "set", String(appId), ...options]);
  expect(await collectCode(accessToken, "stranger")).toBe(2000);
  await set("--require-registration", "off");
  await expect.poll(() => collectCode(accessToken, "stranger")).toBe(0);
  await set("--enabled", "off");
  await expect.poll(() => collectCode(accessToken, "stranger")).toBe(2001);
  await set("--enabled", "on");
  await expect.poll(() => collectCode(accessToken, "stranger")).toBe(0);
});

test("the time zone is fixed once the app has users", async () => {
  const app = await server.createApp({ timeZone: "Asia/Shanghai" });
  const set = (zone: string) => cli(dataDir, ["app", "set", String(app.appId), "--time-zone", zone]);
  expect(await set("Asia/Tokyo")).toMatchObject({ code: 0 });
  expect((await server.register(app, "c")).code).toBe(0);
  await server.settle();
  expectFailure(await set("Asia/Shanghai"), /time zone/);
  expect(await set("Asia/Tokyo"), "the same zone is no change").toMatchObject({ code: 0 });
  expect((await cliJson(dataDir, ["app", "set", String(app.appId)])).time_zone).toBe("Asia/Tokyo");
});

describe("app set refuses", () => {
  let unchanged: App;
  beforeAll(async () => {
    unchanged = await server.createApp({ name: "Unchanged" });
  });

  test.each([
    [["--time-zone", "Mars/Base"], /time zone/],
    [["--currency", "yuan"], /capital letters/],
    [["--rate", "USD"], /USD=7\.12/],
    [["--rate", "USD=-1"], /USD=7\.12/],
    [["--rate", "dollar=7"], /USD=7\.12/],
    [["--metadata", "loose"], /open, strict/],
    [["--enabled", "maybe"], /on, off/],
    [["--name", " "], /1 to 200 characters/],
    [["--name", "n".repeat(201)], /1 to 200 characters/],
  ])("%j, and changes nothing", async (options, words) => {
    expectWrongArguments(
      await cli(dataDir, ["app", "set", String(unchanged.appId), "--name", "Changed", ...options]),
      words,
    );
    const { rows } = await query("select name, currency, rates from app where app_id = $1", [unchanged.appId]);
    expect(rows).toEqual([{ name: "Unchanged", currency: "CNY", rates: {} }]);
  });
});

test("an app that does not exist is a failure that names its id", async () => {
  const results = await Promise.all([
    cli(dataDir, ["app", "set", "99", "--name", "x"]),
    cli(dataDir, ["app", "rotate-token", "99"]),
    cli(dataDir, ["ledger", "--app", "99"]),
    cli(dataDir, ["metadata", "list", "--app", "99"]),
    cli(dataDir, ["user", "show", "c", "--app", "99"]),
    cli(dataDir, ["export", "events", "--app", "99", "--from", "2020-01-01", "--to", "2020-01-02"]),
  ]);
  for (const result of results) expectFailure(result, /\b99\b/);
});

test("app rotate-token: the old token stops working on a running server, the new one works", async () => {
  const app = await server.createApp();
  expect((await server.register(app, "c")).code).toBe(0);
  const rotated = await cliJson(dataDir, ["app", "rotate-token", String(app.appId)]);
  expect(rotated).toEqual({ app_id: app.appId, access_token: expect.stringMatching(/^\w{16,}$/) });
  expect(rotated.access_token).not.toBe(app.accessToken);
  expect(await collectCode(rotated.access_token, "c")).toBe(0);
  await expect.poll(() => collectCode(app.accessToken, "c")).toBe(2001);
  expect(await collectCode(rotated.access_token, "c")).toBe(0);
});

test("the audit log names changes by commands as it names those by the console, without any secret", async () => {
  const { app_id, app_key } = await cliJson(dataDir, ["app", "create", "--name", "Noted"]);
  await cliJson(dataDir, ["app", "set", String(app_id), "--pay-share", "0.6", "--enabled", "off"]);
  await cliJson(dataDir, ["app", "rotate-token", String(app_id), "--which", "aes_key"]);
  await cli(dataDir, ["app", "set", String(app_id), "--time-zone", "nowhere"]);
  const { rows } = await query("select actor, action, details from audit_log where app_id = $1 order by audit_id", [
    app_id,
  ]);
  const actor = expect.stringMatching(/^command line \(.+\)$/);
  expect(rows).toEqual([
    { actor, action: "apps/create", details: { name: "Noted", time_zone: "Asia/Shanghai", metadata: "open" } },
    { actor, action: "apps/edit", details: { app_id, enabled: false, pay_share: 0.6 } },
    { actor, action: "apps/rotate", details: { app_id, which: "aes_key" } },
  ]);
  expect(JSON.stringify(rows)).not.toContain(app_key);
});

test("a token works from the moment the app is created, even while other settings change", async () => {
  const codes = new Set<number>();
  const pool = server.database();
  for (let round = 0; round < 4; round += 1) {
    const app = await server.createApp();
    const others = Array.from({ length: 5 }, () => pool.query("select pg_notify('touchpoint_settings', '')"));
    for (let call = 0; call < 8; call += 1) codes.add((await server.register(app, `c${call}`)).code);
    await Promise.all(others);
  }
  await pool.end();
  expect([...codes]).toEqual([0]);
});

async function query(text: string, values: unknown[] = []) {
  const pool = server.database();
  try {
    return await pool.query(text, values);
  } finally {
    await pool.end();
  }
}
