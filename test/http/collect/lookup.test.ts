import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { openVault } from "../../../src/vault.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { refresh } from "../endpoints.ts";
import { BASE, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

describe("user get", () => {
  let app: App;
  beforeAll(async () => {
    app = await server.createApp();
    const clients = ["a", "b", "c", "c99", "42", "12345678901234567890", "玩家 7", "a&b=c#d%+"];
    await Promise.all(clients.map((clientId) => server.register(app, clientId, { channel: "tap" })));
    const other = await server.createApp();
    await server.register(other, "a", { channel: "theirs" });
    await server.register(other, "of another app");
    await server.settle();
  });

  const get = (user_list: unknown) => server.post("user/get/", app, { user_list });
  const idsOf = (answer: { data: Row }) => answer.data.user_list.map((record: Row) => record.client_id);

  test("returns a record with every field of the interface", async () => {
    const answer = await get(["a"]);
    expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
    expect(answer.data.user_list).toMatchObject([
      {
        create_time: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
        client_id: "a",
        channel: "tap",
        click_company: "",
        advertiser_id: "",
        aid: "",
        cid: "",
      },
    ]);
  });

  test("answers in the requested order, and leaves out unknown ids", async () => {
    expect(idsOf(await get(["c", "nobody", "a", "b"]))).toEqual(["c", "a", "b"]);
    expect(idsOf(await get(["nobody"]))).toEqual([]);
    expect(idsOf(await get([]))).toEqual([]);
  });

  test("accepts 100 ids and refuses 101 with 1004", async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `c${index}`);
    expect(idsOf(await get(ids.slice(0, 100)))).toEqual(["c99"]);
    expect(await get(ids)).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("user_list") });
  });

  test.each([undefined, null, "a", 7, {}, [null], [{}], [["a"]], [true]])(
    "refuses user_list %j with 1004",
    async (list) => {
      const answer = await get(list);
      expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("user_list") });
    },
  );

  test("accepts ids that are numbers, with all their digits", async () => {
    const answer = await server.post("user/get/", app, '{"user_list":[12345678901234567890,42,12345678901234567891]}');
    expect(idsOf(answer)).toEqual(["12345678901234567890", "42"]);
  });

  test("shows only users of the token's own app", async () => {
    const { user_list } = (await get(["a", "of another app"])).data;
    expect(user_list).toMatchObject([{ client_id: "a", channel: "tap" }]);
  });

  describe("by GET", () => {
    const getOne = (query: Record<string, string>) =>
      server.get(`${BASE}/user/get/`, { access_token: app.accessToken, ...query });

    test.each(["a", "玩家 7", "a&b=c#d%+"])("finds the client %s", async (clientId) => {
      expect(idsOf(await getOne({ client_id: clientId }))).toEqual([clientId]);
    });

    test("answers an unknown client with an empty list", async () => {
      const answer = await getOne({ client_id: "nobody" });
      expect(answer).toMatchObject({ status: 200, code: 0, data: { user_list: [] } });
    });

    test.each<Record<string, string>>([{}, { client_id: "" }, { client_id: "x".repeat(129) }])(
      "refuses %j with 1004",
      async (query) => {
        const answer = await getOne(query);
        expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("client_id") });
      },
    );
  });
});

describe.each(["base/wx/access_token/refresh/", "base/media/access_token/refresh/"])("token refresh at %s", (path) => {
  /** One app for what is accepted, and one that keeps its token whatever is refused. */
  let app: App;
  let kept: App;
  beforeAll(async () => {
    [app, kept] = [await server.createApp(), await server.createApp()];
    expect(await send(kept, refresh(kept, "good"))).toMatchObject({ code: 0 });
  });

  const nowS = () => Math.floor(Date.now() / 1000);
  const send = (app: App, body: unknown) => server.post(path, app, body);
  const stored = async (app: App) => {
    const [row] = await tables.query("select token_sealed from media_token where app_id = $1", [app.appId]);
    return row && openVault({ dataDir: server.dataDir, secretKey: "" }).open(row.token_sealed);
  };

  test("accepts a token with a valid sign, and the next one replaces it", async () => {
    for (const token of ["77_first-Token", "78_second Token/with&odd=characters✓"]) {
      const answer = await send(app, refresh(app, token));
      expect(answer).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
      expect(answer.data).toEqual({});
      expect(await stored(app)).toBe(token);
    }
  });

  test("keeps the token encrypted, and writes it neither to the journal nor in the clear to any table", async () => {
    const token = `secret-${app.accessToken.slice(0, 12)}-token`;
    expect(await send(app, refresh(app, token))).toMatchObject({ code: 0 });
    await server.settle();
    const [row] = await tables.query("select t::text as text, token_sealed from media_token t where app_id = $1", [
      app.appId,
    ]);
    expect(row!.token_sealed.length).toBeGreaterThan(token.length);
    for (const form of [token, Buffer.from(token).toString("base64"), Buffer.from(token).toString("hex")])
      expect(row!.text).not.toContain(form);
    const journal = join(server.dataDir, "journal");
    const segments = readdirSync(journal);
    expect(segments.length).toBeGreaterThan(0);
    for (const name of segments) expect(readFileSync(join(journal, name)).includes(token)).toBe(false);
  });

  test.each([0, -5, 8])("accepts a clock that is %i s off", async (offset) => {
    // A call that takes some seconds is judged later than that.
    await expect.poll(async () => (await send(app, refresh(app, "t", nowS() + offset))).code).toBe(0);
  });

  test.each([-12, -3600, 3600, 86_400])("refuses a clock that is %i s off with 2005", async (offset) => {
    expect(await send(kept, refresh(kept, "t", nowS() + offset))).toMatchObject({ status: 200, code: 2005, data: {} });
    expect(await stored(kept)).toBe("good");
  });

  test("refuses milliseconds instead of seconds with 2005", async () => {
    expect(await send(kept, refresh(kept, "t", Date.now()))).toMatchObject({ code: 2005 });
  });

  const spoil: [string, (body: Row) => Row][] = [
    ["of another key", (body) => refresh(app, "t", body.current_time)],
    ["of another token", (body) => ({ ...body, wx_access_token: "u" })],
    ["of another time", (body) => ({ ...body, current_time: body.current_time - 1 })],
    ["that is cut off", (body) => ({ ...body, sign: body.sign.slice(1) })],
    ["that is made up", (body) => ({ ...body, sign: "0".repeat(32) })],
    ["that is not hex", (body) => ({ ...body, sign: "签".repeat(32) })],
    ["of the access token", (body) => refresh({ appKey: kept.accessToken }, "t", body.current_time)],
  ];
  test.each(spoil)("refuses a sign %s with 2002, and keeps its token", async (_what, change) => {
    const answer = await send(kept, change(refresh(kept, "t")));
    expect(answer).toMatchObject({ status: 200, code: 2002, data: {}, extra: { error: answer.msg } });
    expect(await stored(kept)).toBe("good");
  });

  test.each<[string, unknown[]]>([
    ["wx_access_token", [undefined, null, "", 7, {}]],
    ["current_time", [undefined, null, "", String(nowS()), {}]],
    ["sign", [undefined, null, "", 7, {}]],
  ])("refuses a wrong %s with 1004 and names it", async (field, values) => {
    for (const value of values) {
      const answer = await send(kept, { ...refresh(kept, "t"), [field]: value });
      expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining(field) });
    }
    expect(await stored(kept)).toBe("good");
  });
});

test("both addresses of the refresh share one token", async () => {
  const app = await server.createApp();
  await server.post("base/wx/access_token/refresh/", app, refresh(app, "one"));
  await server.post("base/media/access_token/refresh/", app, refresh(app, "two"));
  const rows = await tables.query("select platform from media_token where app_id = $1", [app.appId]);
  expect(rows).toHaveLength(1);
});
