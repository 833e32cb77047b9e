import { createCipheriv, randomBytes } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { openVault } from "../../../src/vault.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import { type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const ANDROID = {
  os_name: "android",
  android_id: "a1b2c3d4e5f60718",
  imei: "866000000000001",
  oaid: "oaid-1",
  mac: "A0:B1:C2:D3:E4:F5",
  android_version: "14",
  api_version: 34,
  rom: "MIUI",
  rom_version: "V14",
  phone_brand: "Xiaomi",
  phone_model: "13 Pro",
};
const IOS = {
  os_name: "ios",
  idfa: "6D92078A-8246-4BA4-AE5B-76104861E7DC",
  idfv: "v-1",
  caid1_md5: "c1",
  caid2_md5: "c2",
};

function encrypt(plain: string, aesKey: string): string {
  const key = Buffer.from(aesKey, "base64");
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb`, key, null);
  return Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]).toString("base64");
}

/** One app for all tests; each that changes a device has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.appWith(["refused"]);
});

let clients = 0;
async function newClient(): Promise<string> {
  clients += 1;
  const client = `client ${clients}`;
  await server.register(app, client);
  return client;
}

function send(client: string, data: unknown): Promise<Answer> {
  return server.post("user/device_info/", app, { data }, { query: { client_id: client } });
}

const deviceOf = async (client: string) => (await tables.user(app, client))!.device;

/** Sends a device for a client of its own. */
async function sent(data: unknown): Promise<{ client: string; answer: Answer }> {
  const client = await newClient();
  return { client, answer: await send(client, data) };
}

describe("data may be", () => {
  const forms: [string, (app: App, device: Row) => unknown][] = [
    ["encrypted text", (app, device) => encrypt(JSON.stringify(device), app.aesKey)],
    ["encrypted text with spaces in its JSON", (app, device) => encrypt(JSON.stringify(device, null, 2), app.aesKey)],
    ["a plain object", (_, device) => device],
    ["the plain JSON text", (_, device) => JSON.stringify(device)],
    ["the plain JSON text after blanks", (_, device) => ` \n${JSON.stringify(device)}`],
  ];

  test.each(forms)("%s", async (_what, form) => {
    const both = await Promise.all([ANDROID, IOS].map((device) => sent(form(app, device))));
    for (const [index, { client, answer }] of both.entries()) {
      const device = [ANDROID, IOS][index]!;
      expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
      expect(answer.data).toEqual({});
      expect(await tables.user(app, client)).toMatchObject({ device, os_platform: device.os_name });
    }
  });

  test.each([16, 24, 32])("encrypted with a key of %i bytes", async (bytes) => {
    const own = await server.appWith(["a"]);
    const aesKey = randomBytes(bytes).toString("base64");
    const sealed = openVault({ dataDir: server.dataDir, secretKey: "" }).seal(aesKey);
    await tables.changeSettings("update app set aes_key_sealed = $2 where app_id = $1", [own.appId, sealed]);
    const data = encrypt(JSON.stringify(ANDROID), aesKey);
    const post = () => server.post("user/device_info/", own, { data }, { query: { client_id: "a" } });
    await expect.poll(async () => (await post()).code).toBe(0);
    expect((await tables.user(own, "a"))!.device).toMatchObject(ANDROID);
  });
});

describe("data that does not decrypt is refused with 2007", () => {
  const texts: [string, (app: App) => string][] = [
    ["no base64", () => "!!! not base64 !!!"],
    ["base64 of nothing encrypted", () => Buffer.from("hello").toString("base64")],
    ["encrypted under another key", () => encrypt(JSON.stringify(ANDROID), randomBytes(16).toString("base64"))],
    ["cut off", (app) => encrypt(JSON.stringify(ANDROID), app.aesKey).slice(0, -8)],
    ["encrypted, but not JSON", (app) => encrypt("os_name=android", app.aesKey)],
    ["encrypted, but not an object", (app) => encrypt('["android"]', app.aesKey)],
    ["plain, but broken", () => '{"os_name":"android"'],
  ];

  test.each(texts)("%s", async (_what, text) => {
    const answer = await send("refused", text(app));
    expect(answer).toMatchObject({ status: 200, code: 2007, data: {}, extra: { error: answer.msg } });
  });
});

describe("a wrong parameter is refused with 1004 and named", () => {
  test.each([undefined, null, "", 7, true, []])("data: %j", async (data) => {
    const answer = await send("refused", data);
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("data") });
  });

  test.each([undefined, null, "", "windows", 7, "ios "])("os_name: %j, plain and encrypted", async (os_name) => {
    const device = { ...ANDROID, os_name };
    for (const data of [device, encrypt(JSON.stringify(device), app.aesKey)])
      expect(await send("refused", data)).toMatchObject({ code: 1004, msg: expect.stringContaining("os_name") });
  });

  const texts = Object.keys({ ...ANDROID, ...IOS }).filter((field) => field !== "os_name");
  test.each(texts)("%s of a wrong type", async (field) => {
    for (const value of [{}, ["x"], true]) {
      const answer = await send("refused", { ...ANDROID, [field]: value });
      expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining(field) });
    }
  });

  test.each<Record<string, string>>([{}, { client_id: "" }, { client_id: "x".repeat(129) }])(
    "client_id in the query: %j",
    async (query) => {
      const answer = await server.post("user/device_info/", app, { data: ANDROID }, { query });
      expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("client_id") });
    },
  );
});

test("what is refused leaves no device", async () => {
  expect((await send("refused", "!!!")).code).toBe(2007);
  expect(await deviceOf("refused")).toBeNull();
});

test("a client that is not registered is refused with 2000", async () => {
  expect(await send("stranger", ANDROID)).toMatchObject({ status: 200, code: 2000, data: {} });
  expect(await tables.user(app, "stranger")).toBeUndefined();
});

test.each([
  ...["00000000-0000-0000-0000-000000000000", "000000000000000", "0", "00:00:00:00:00:00"],
  ...["null", "NULL", "d41d8cd98f00b204e9800998ecf8427e", "D41D8CD98F00B204E9800998ECF8427E"],
  ...["__IMEI__", "__OAID__", "", "  "],
])("the id %j counts as empty", async (placeholder) => {
  const ids = ["android_id", "imei", "oaid", "idfa", "idfv", "caid1_md5", "caid2_md5", "mac"];
  const filled = Object.fromEntries(ids.map((id) => [id, placeholder]));
  const { client } = await sent({ os_name: "android", phone_brand: "x", ...filled });
  expect(await deviceOf(client)).toMatchObject({ phone_brand: "x", ...Object.fromEntries(ids.map((id) => [id, ""])) });
});

test("only os_name is required: an SDK leaves out mac and other values that it cannot read", async () => {
  const { client, answer } = await sent({ os_name: "iOS" });
  expect(answer).toMatchObject({ code: 0 });
  expect(await deviceOf(client)).toMatchObject({ os_name: "ios", mac: "", idfa: "", api_version: 0 });
});

test("a later report adds what is new and erases nothing", async () => {
  const { client } = await sent(ANDROID);
  await send(client, { os_name: "android", imei: "", oaid: "oaid-2", mac: null });
  expect(await deviceOf(client)).toMatchObject({ ...ANDROID, oaid: "oaid-2" });
});

test("an imei sent as a number keeps its digits", async () => {
  const client = await newClient();
  const body = '{"data":{"os_name":"android","imei":86600000000000123}}';
  const answer = await server.post("user/device_info/", app, body, { query: { client_id: client } });
  expect(answer).toMatchObject({ code: 0 });
  expect(await deviceOf(client)).toMatchObject({ imei: "86600000000000123" });
});

test("deep nesting beside the known fields is ignored", async () => {
  const client = await newClient();
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  const body = `{"data":{"os_name":"android","imei":"1","more":${deep}}}`;
  const answer = await server.post("user/device_info/", app, body, { query: { client_id: client } });
  expect(answer).toMatchObject({ status: 200, code: 0 });
  expect(await deviceOf(client)).toMatchObject({ imei: "1" });
});
