import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import { registration } from "../endpoints.ts";
import { type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const post = (app: App, path: string, body: unknown, headers: Record<string, string> = {}) =>
  server.post(`${path}/`, app, body, { headers });

describe.each(["user/register", "user/initialize"])("%s", (path) => {
  /** One app for all tests of the address; each that registers somebody has its own client. */
  let app: App;
  beforeAll(async () => {
    app = await server.createApp();
  });

  test("makes a client known, returns a token, and a look-up finds the client at once", async () => {
    const before = Math.floor(Date.now() / 1000) * 1000;
    const { answer, record } = await eventually(async () => {
      const empty = await server.createApp();
      const startedMs = Date.now();
      const answer = await post(empty, path, registration("a"));
      const { user_list } = (await server.post("user/get/", empty, { user_list: ["a"] })).data;
      const isInTime = Date.now() - startedMs < LIMITS.appliedWaitMs;
      // The server does not wait longer than that for apply, so a slower answer promises nothing.
      expect(isInTime).toBe(true);
      return { answer, record: user_list[0] };
    });
    expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
    expect(answer.data).toEqual({ token: expect.stringMatching(/^\S{10,}$/) });
    expect(record).toMatchObject({ client_id: "a", channel: "base_channel", click_company: "" });
    const createdAtMs = Date.parse(`${record.create_time.replace(" ", "T")}+08:00`);
    expect(createdAtMs).toBeGreaterThanOrEqual(before);
    expect(createdAtMs).toBeLessThanOrEqual(Date.now());
  });

  test("keeps every field", async () => {
    const device_info = {
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
    await post(app, path, {
      ...registration("whole"),
      name: "安娜",
      channel: "tap",
      version: -7,
      wx_openid: "open-1",
      wx_unionid: "union-1",
      client_ip: "114.114.114.114",
      client_ua: "Phone/1",
      device_info,
    });
    expect(await tables.user(app, "whole")).toMatchObject({
      is_registered: true,
      name: "安娜",
      channel: "tap",
      version: -7,
      wx_openid: "open-1",
      wx_unionid: "union-1",
      ip: "114.114.114.114",
      ua: "Phone/1",
      os_platform: "android",
      device: device_info,
    });
  });

  test("uses the address and user agent of the call if the body has none", async () => {
    const body = { ...registration("without address"), client_ip: "", client_ua: null };
    await post(app, path, body, { "user-agent": "Game/2" });
    expect(await tables.user(app, "without address")).toMatchObject({ ip: "127.0.0.1", ua: "Game/2" });
  });

  const wrong: Record<string, unknown[]> = {
    client_id: [undefined, null, "", {}, [], true],
    name: [undefined, null, 7, {}, [], true],
    channel: [undefined, null, 7, {}, [], true],
    version: [undefined, null, "1", 1.5, {}, [], true],
    wx_openid: [{}, [], true],
    wx_unionid: [{}, [], true],
    ad_data: ["{}", 7, true, ["x"]],
    device_info: ["{}", 7, true, ["x"], {}],
    client_ip: [{}, [], true],
    client_ua: [{}, [], true],
  };

  test.each(Object.keys(wrong))("refuses a wrong %s with 1004 and names it", async (field) => {
    for (const value of wrong[field]!) {
      const answer = await post(app, path, { ...registration("refused"), [field]: value });
      expect({ value, ...answer }).toMatchObject({ value, status: 200, code: 1004, data: {} });
      expect(answer.msg).toContain(field);
    }
    expect(await tables.user(app, "refused")).toBeUndefined();
  });

  const optional = ["wx_openid", "wx_unionid", "ad_data", "device_info", "client_ip", "client_ua"];
  describe("accepts an absent or null", () => {
    let answers: Answer[];
    let users: Map<string, Row>;
    beforeAll(async () => {
      const bodies = optional.map((field) => ({ ...registration(`without ${field}`), [field]: null }));
      answers = await Promise.all(bodies.map((body) => post(app, path, body)));
      users = await tables.users(app);
    });

    test.each(optional)("%s", (field) => {
      expect(answers[optional.indexOf(field)]).toMatchObject({ code: 0 });
      expect(users.get(`without ${field}`)).toMatchObject({ is_registered: true, ad_platform: "" });
    });
  });

  test("accepts empty texts, and an empty ad_data as PHP writes it", async () => {
    const empty = { name: "", channel: "", wx_openid: "", wx_unionid: "", client_ip: "", client_ua: "", ad_data: [] };
    expect(await post(app, path, { ...registration("empty"), ...empty })).toMatchObject({ code: 0 });
    expect(await tables.user(app, "empty")).toMatchObject({ name: "", channel: "", wx_openid: "", ad_platform: "" });
  });

  test("refuses an os_name other than ios and android", async () => {
    for (const os_name of [undefined, null, "", "windows", 7]) {
      const answer = await post(app, path, { ...registration("refused"), device_info: { os_name } });
      expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining("os_name") });
    }
  });

  test("updates name, version, ids and device on a second call, but never the time, the channel or the attribution", async () => {
    const first = { ...registration("twice"), wx_openid: "open-1", ad_data: { gdt_vid: "click-1" } };
    const { data: once } = await post(app, path, { ...first, device_info: { os_name: "ios", idfv: "idfv-1" } });
    const before = (await tables.user(app, "twice"))!;
    const { data: twice } = await post(app, path, {
      client_id: "twice",
      name: "Bob",
      channel: "elsewhere",
      version: 2,
      wx_openid: "open-2",
      wx_unionid: "union-2",
      ad_data: { clue_token: "x", promotion_id: "9" },
      device_info: { os_name: "ios", idfa: "IDFA-2" },
    });
    expect(twice).toEqual(once);
    const { name, version, wx_openid, wx_unionid, device, ...rest } = (await tables.user(app, "twice"))!;
    expect({ name, version, wx_openid, wx_unionid }).toEqual({
      name: "Bob",
      version: 2,
      wx_openid: "open-2",
      wx_unionid: "union-2",
    });
    expect(device).toMatchObject({ os_name: "ios", idfv: "idfv-1", idfa: "IDFA-2" });
    expect(before).toMatchObject({ ...rest, ad_platform: "tencent", channel: "base_channel" });
  });

  test("erases nothing on a second call that knows less", async () => {
    const body = registration("known before");
    await post(app, path, { ...body, wx_openid: "open-1", device_info: { os_name: "ios", idfv: "v" } });
    await post(app, path, body);
    await post(app, path, { ...body, wx_openid: "", device_info: { os_name: "ios", idfv: "" } });
    expect(await tables.user(app, "known before")).toMatchObject({ wx_openid: "open-1", device: { idfv: "v" } });
  });

  test("creates one user from many simultaneous calls", async () => {
    const body = { ...registration("at once"), name: "one of ten" };
    const answers = await Promise.all(Array.from({ length: 10 }, () => post(app, path, body)));
    expect(new Set(answers.map(({ data }) => data.token)).size).toBe(1);
    const named = [...(await tables.users(app)).values()].filter(({ name }) => name === "one of ten");
    expect(named).toHaveLength(1);
  });
});

/** One app for the tests below; each that registers somebody has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

describe("keeps the text as it is:", () => {
  const TEXTS = [
    ...["\\N", "\\.", "a\\tb", "back\\", "line\nbreak\ttab\r", '"quoted"', "'; drop table event; --", "\u2028"],
  ];
  const clientOf = (text: string) => text.replace(/[\n\t\r]/g, "");
  const fieldsOf = (text: string) => ({
    name: text,
    channel: text,
    wx_openid: `o${text}o`,
    ad_data: { gdt_vid: "g", query: text },
  });
  let users: Map<string, Row>;
  let events: Row[];
  beforeAll(async () => {
    const send = async (text: string) => {
      expect(await server.register(app, clientOf(text), fieldsOf(text))).toMatchObject({ code: 0 });
      expect(await server.collect(app, clientOf(text), [track("e", { text })])).toMatchObject({ code: 0, extra: {} });
    };
    await Promise.all(TEXTS.map(send));
    [users, events] = [await tables.users(app), await tables.events(app)];
  });

  test.each(TEXTS)("%j", (text) => {
    expect(users.get(clientOf(text))).toMatchObject(fieldsOf(text));
    expect(events.filter((row) => row.client_id === clientOf(text))).toMatchObject([{ properties: { text } }]);
  });
});

test("returns a token that names only this app and client", async () => {
  const other = await server.createApp();
  const tokens: string[] = [];
  for (const [where, clientId] of [
    [app, "a"],
    [app, "b"],
    [other, "a"],
  ] as const)
    tokens.push((await server.register(where, clientId)).data.token);
  expect(new Set(tokens).size).toBe(3);
});

describe("user/initialize", () => {
  const initialize = (clientId: string, more: Row) =>
    server.post("user/initialize/", app, { ...registration(clientId), ...more });

  /** The server does not wait long for apply, so on a busy machine the test asks again. */
  const attributionOf = async (clientId: string, more: Row) =>
    (await initialize(clientId, { ...more, need_return_attribution: true })).data;

  test("returns the attribution when need_return_attribution is true", async () => {
    const ad_data = { clue_token: "c", project_id: "p1", promotion_id: "p2", advertiser_id: "adv", mid1: "m1" };
    await expect
      .poll(() => attributionOf("attributed", { ad_data }))
      .toMatchObject({
        token: expect.any(String),
        click_company: "bytedance",
        advertiser_id: "adv",
        aid: "p2",
        bytedance_v2: { project_id: "p1", promotion_id: "p2", mid1: "m1" },
      });
  });

  test.each([false, null, undefined])("returns only the token if need_return_attribution is %s", async (value) => {
    const { data } = await initialize("asks for nothing", { need_return_attribution: value });
    expect(Object.keys(data)).toEqual(["token"]);
  });

  test("history_info gives the registration time and the platform of a user from another system", async () => {
    const history_info = { company: "kuaishou", create_time: Date.UTC(2021, 4, 6, 7, 8, 9) };
    const expected = { click_company: "kuaishou", create_time: "2021-05-06 15:08:09" };
    await expect.poll(() => attributionOf("from elsewhere", { history_info })).toMatchObject(expected);
    expect(await tables.user(app, "from elsewhere")).toMatchObject({ is_history: true, registered_day: "2021-05-06" });
  });

  describe("history_info", () => {
    const EMPTY = [null, {}, { company: "", create_time: null }, { company: "nobody", create_time: 0 }];
    const TIMES = [1e300, -1e300, 253_402_300_800_000, 1.5, -5, 1_700_000_000];
    const clientOf = (info: unknown) => `history ${JSON.stringify(info)}`;
    const startedMs = Date.now();
    let codes: number[];
    let users: Map<string, Row>;
    beforeAll(async () => {
      const ad_data = { gdt_vid: "g" };
      for (const history_info of EMPTY)
        expect(await initialize(clientOf(history_info), { history_info, ad_data })).toMatchObject({ code: 0 });
      const answers = await Promise.all(
        TIMES.map((create_time) =>
          initialize(clientOf(create_time), { history_info: { company: "tencent", create_time } }),
        ),
      );
      codes = answers.map(({ code }) => code);
      users = await tables.users(app);
    });

    test.each(EMPTY)("%j leaves the registration as it is", (history_info) => {
      const user = users.get(clientOf(history_info))!;
      expect(user.ad_platform).toBe("tencent");
      expect(user.registered_at_ms).toBeGreaterThanOrEqual(startedMs - 1000);
    });

    test.each(TIMES)("of %d loses no acknowledged registration", (create_time) => {
      const code = codes[TIMES.indexOf(create_time)];
      if (code === 0) expect(users.get(clientOf(create_time))).toMatchObject({ is_registered: true });
      else expect(code).toBe(1004);
    });
  });

  test("accepts asa_token, promoted_object_id and client_id in the query, as SDKs send them", async () => {
    const body = {
      ...registration("an SDK"),
      asa_token: "asa",
      promoted_object_id: "wx0123456789abcd",
      media_type: "tencent",
    };
    const answer = await server.post("user/initialize/", app, body, { query: { client_id: "an SDK" } });
    expect(answer).toMatchObject({ code: 0 });
    expect(await tables.user(app, "an SDK")).toMatchObject({ turbo_promoted_object_id: "wx0123456789abcd" });
  });

  test("makes the client known to event collect", async () => {
    await initialize("new", {});
    expect(await server.collect(app, "new", [track("e")])).toMatchObject({ code: 0 });
  });
});
