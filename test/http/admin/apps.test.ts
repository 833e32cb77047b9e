import { beforeAll, describe, expect, test } from "vitest";
import { appKeys, appsAnswer, rotatedSecret, shownApp } from "../../../src/contract/setting/app.ts";
import type { App } from "../../../src/db/app.ts";
import { cliJson } from "../../cli/run.ts";
import { AdminCaller, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { refresh } from "../endpoints.ts";
import { type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");

const shownOf = (app: App) => ({
  app_id: app.appId,
  name: app.name,
  access_token: app.accessToken,
  time_zone: app.timeZone,
  currency: "CNY",
  rates: {},
  metadata: app.metadataMode,
  require_registration: true,
  enabled: true,
  pay_share: 1,
  refunds_on: "order",
  created_at_ms: Number(app.createdAtMs),
});
const listed = async (appId: number) =>
  dataOf(await admin.get("apps"), appsAnswer).apps.find((app: Row) => app.app_id === appId);

describe("apps", () => {
  test("are listed for everyone signed in, with their access tokens and no other secret", async () => {
    const app = await server.createApp({ name: "列", timeZone: "Europe/Berlin", metadataMode: "strict" });
    const answer = await analyst.get("apps");
    expect(dataOf(answer, appsAnswer).apps).toContainEqual(shownOf(app));
    expect(JSON.stringify(answer.data)).not.toContain(app.appKey);
    expect(JSON.stringify(answer.data)).not.toContain(app.aesKey);
  });

  test("are created with the defaults of the command line, and accept events at once", async () => {
    const made = dataOf(await admin.post("apps/create", { name: "New" }), shownApp);
    expect(made).toMatchObject({ name: "New", time_zone: "Asia/Shanghai", currency: "CNY", metadata: "open" });
    expect(await listed(made.app_id)).toEqual(made);
    const app = { appId: made.app_id, accessToken: made.access_token } as App;
    expect(await server.register(app, "first")).toMatchObject({ code: 0 });
    const rules = await admin.get("postback/rules", { app_id: made.app_id });
    expect(rules.data.rules.length, "the rules that every app begins with").toBeGreaterThan(0);
  });

  test("are created as requested", async () => {
    const asked = { name: "Own", time_zone: "America/New_York", currency: "USD", metadata: "strict" };
    expect(dataOf(await admin.post("apps/create", asked), shownApp)).toMatchObject(asked);
  });

  test.each<[Row, RegExp]>([
    [{}, /name/],
    [{ name: "  " }, /name/],
    [{ name: "n".repeat(201) }, /name/],
    [{ name: "x", time_zone: "Mars/Olympus" }, /time_zone/],
    [{ name: "x", currency: "yuan" }, /currency/],
    [{ name: "x", metadata: "loose" }, /metadata/],
  ])("are not created from %j", async (body, msg) => {
    expect(await admin.post("apps/create", body)).toMatchObject(refused(msg));
  });

  test("cannot be created, changed or given new secrets by an analyst, who cannot see keys either", async () => {
    const app = await server.createApp();
    for (const [path, body] of [
      ["create", { name: "x" }],
      ["edit", { app_id: app.appId, name: "x" }],
      ["keys", { app_id: app.appId }],
      ["rotate", { app_id: app.appId, which: "app_key" }],
    ] as const)
      expect(await analyst.post(`apps/${path}`, body)).toMatchObject(refused(/Your role/, 2004));
    expect(await listed(app.appId)).toEqual(shownOf(app));
  });
});

describe("a change to an app", () => {
  let unchanged: App;
  beforeAll(async () => {
    unchanged = await server.createApp();
  });

  test("affects only the fields it names, at once, as on the command line", async () => {
    const app = await server.createApp();
    const change = {
      name: "Renamed",
      time_zone: "Asia/Tokyo",
      currency: "JPY",
      rates: { USD: "150.5", EUR: "160" },
      metadata: "strict",
      require_registration: false,
      pay_share: 0.6543,
    };
    const answer = await admin.post("apps/edit", { app_id: app.appId, ...change });
    expect(dataOf(answer, shownApp)).toEqual({ ...shownOf(app), ...change });
    const { created_at_ms: _, ...own } = await listed(app.appId);
    expect(await cliJson(server.dataDir, ["app", "list"])).toContainEqual(own);
    const fewer = await admin.post("apps/edit", { app_id: app.appId, rates: { USD: "", KRW: "0.11" } });
    expect(fewer.data).toEqual({ ...shownOf(app), ...change, rates: { EUR: "160", KRW: "0.11" } });
  });

  test("disables an app and enables it again", async () => {
    const app = await server.createApp();
    await admin.post("apps/edit", { app_id: app.appId, enabled: false });
    expect(await server.register(app, "u")).toMatchObject({ code: 2001 });
    await admin.post("apps/edit", { app_id: app.appId, enabled: true });
    expect(await server.register(app, "u")).toMatchObject({ code: 0 });
  });

  test("moves the time zone only while the app has no users; sending the same one is always allowed", async () => {
    const app = await server.createApp();
    await server.register(app, "u");
    await server.settle();
    const moved = await admin.post("apps/edit", { app_id: app.appId, time_zone: "Asia/Tokyo", name: "x" });
    expect(moved).toMatchObject(refused(/time zone cannot change/));
    expect(await listed(app.appId)).toEqual(shownOf(app));
    const same = await admin.post("apps/edit", { app_id: app.appId, time_zone: app.timeZone, name: "x" });
    expect(same.data).toEqual({ ...shownOf(app), name: "x" });
  });

  test.each<[Row, RegExp, number?]>([
    [{ app_id: 999_999_999, name: "x" }, /app_id/, 2001],
    [{ app_id: "1" }, /app_id/],
    [{ name: "" }, /name/],
    [{ time_zone: "nowhere" }, /time_zone/],
    [{ currency: "cny" }, /currency/],
    [{ rates: { usd: "7" } }, /rates/],
    [{ rates: { USD: "-7" } }, /rates/],
    [{ rates: { USD: 7 } }, /rates/],
    [{ metadata: "closed" }, /metadata/],
    [{ enabled: "off" }, /enabled/],
    [{ pay_share: 1.1 }, /pay_share/],
    [{ pay_share: 0.12345 }, /pay_share/],
  ])("is refused: %j", async (change, msg, code) => {
    expect(await admin.post("apps/edit", { app_id: unchanged.appId, ...change })).toMatchObject(refused(msg, code));
    expect(await listed(unchanged.appId)).toEqual(shownOf(unchanged));
  });
});

describe("secrets", () => {
  let app: App;
  beforeAll(async () => {
    app = await server.createApp();
    await server.register(app, "u");
  });
  const rotate = async (which: string) =>
    dataOf(await admin.post("apps/rotate", { app_id: app.appId, which }), rotatedSecret).value;

  test("are shown to an admin; the audit log records that, but holds none of them", async () => {
    const shown = await admin.post("apps/keys", { app_id: app.appId });
    expect(dataOf(shown, appKeys)).toEqual({ app_id: app.appId, app_key: app.appKey, aes_key: app.aesKey });
    const rotated = await rotate("aes_key");
    const { entries } = (await admin.get("audit", { app_id: app.appId })).data;
    expect(entries).toMatchObject([
      { action: "apps/rotate", details: { which: "aes_key" } },
      { action: "apps/keys", details: { app_id: app.appId } },
    ]);
    for (const secret of [app.appKey, app.aesKey, rotated]) expect(JSON.stringify(entries)).not.toContain(secret);
  });

  test("a new access token replaces the old one at once", async () => {
    const before = await listed(app.appId);
    const value = await rotate("access_token");
    expect(await server.collect(app, "u", [track("e")])).toMatchObject({ code: 2001 });
    app = { ...app, accessToken: value };
    expect(await server.collect(app, "u", [track("e")])).toMatchObject({ code: 0 });
    expect(await listed(app.appId)).toEqual({ ...before, access_token: value });
  });

  test("a new app_key replaces the old one at once", async () => {
    const path = "base/wx/access_token/refresh/";
    const changed = { ...app, appKey: await rotate("app_key") };
    expect(await server.post(path, changed, refresh(app, "media"))).toMatchObject({ code: 2002 });
    expect(await server.post(path, changed, refresh(changed, "media"))).toMatchObject({ code: 0 });
  });

  test("a new aes_key replaces the old one, and is sealed", async () => {
    const value = await rotate("aes_key");
    expect(Buffer.from(value, "base64")).toHaveLength(16);
    expect((await admin.post("apps/keys", { app_id: app.appId })).data.aes_key).toBe(value);
    expect(JSON.stringify(await tables.query("select * from app"))).not.toContain(value);
  });

  test.each<[string, Row, RegExp, number?]>([
    ["rotate", { which: "password" }, /which/],
    ["rotate", {}, /which/],
    ["rotate", { app_id: 999_999_999, which: "app_key" }, /app_id/, 2001],
    ["keys", { app_id: 999_999_999 }, /app_id/, 2001],
  ])("%s refuses %j", async (path, body, msg, code) => {
    expect(await admin.post(`apps/${path}`, { app_id: app.appId, ...body })).toMatchObject(refused(msg, code));
  });
});
