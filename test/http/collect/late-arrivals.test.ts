import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { attributedRegistration } from "../endpoints.ts";
import { BASE, DAY_MS, HOUR_MS, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** One app for all tests: each has its own clients, and ids that no other test uses. */
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

async function click(parameters: Record<string, string | number>): Promise<void> {
  const query = Object.entries({ app_id: app.appId, ...parameters }).map(([name, value]) => [name, String(value)]);
  expect(await server.get(`${BASE}/event/click/`, Object.fromEntries(query))).toMatchObject({ status: 200, code: 0 });
}

async function lookUp(clientId: string): Promise<Row> {
  return (await server.lookUp(app, clientId))[0];
}

const methodOf = async (clientId: string) => (await tables.user(app, clientId))?.method;
const android = (oaid: string) => ({ device_info: { os_name: "android", oaid } });

const ORGANIC = { click_company: "", advertiser_id: "", gid: "", aid: "", cid: "", csite: "" };

test("a touch from before the registration changes the result", async () => {
  const oaid = "late click";
  await server.register(app, "late click", android(oaid));
  expect(await lookUp("late click")).toMatchObject(ORGANIC);
  await click({ company: "vivo", oaid, aid: "old", ts: Date.now() - 2 * HOUR_MS });
  expect(await lookUp("late click")).toMatchObject({ click_company: "vivo", aid: "old" });
  await click({ company: "oppo", oaid, aid: "newer", ts: Date.now() - HOUR_MS });
  expect(await lookUp("late click")).toMatchObject({ click_company: "oppo", aid: "newer" });
  await click({ company: "vivo", oaid, aid: "older", ts: Date.now() - 3 * HOUR_MS });
  expect(await lookUp("late click")).toMatchObject({ click_company: "oppo", aid: "newer" });
});

test("a touch of a surer method changes the result, one of a less sure method does not", async () => {
  const [oaid, wx_openid, gdt_vid] = ["surer", "surer", "surer"];
  await click({ company: "vivo", oaid });
  await server.register(app, "surer", { ...android(oaid), wx_openid, ad_data: { gdt_vid } });
  expect(await methodOf("surer")).toBe("device_id");
  await click({ company: "oppo", wx_openid, ts: Date.now() - HOUR_MS });
  expect(await lookUp("surer")).toMatchObject({ click_company: "vivo" });
  await click({ company: "tencent", click_id: gdt_vid, ts: Date.now() - DAY_MS });
  expect(await lookUp("surer")).toMatchObject({ click_company: "tencent" });
  expect(await methodOf("surer")).toBe("click_key");
});

test("a device info changes the result", async () => {
  await click({ company: "vivo", oaid: "late device", aid: "3" });
  await server.register(app, "late device");
  expect(await lookUp("late device")).toMatchObject(ORGANIC);
  const data = { os_name: "android", oaid: "late device" };
  await server.post("user/device_info/", app, { data }, { query: { client_id: "late device" } });
  expect(await lookUp("late device")).toMatchObject({ click_company: "vivo", aid: "3" });
});

describe("update_data", () => {
  const FOUND: [string, Row][] = [
    ["a click_id", { click_id: "updated 1" }],
    ["a click_id with the platform's name", { click_id: "updated 2", media_type: "tencent" }],
    ["an open id", { wx_openid: "updated 3" }],
  ];
  const UPDATES = new Map<string, Row>([
    ...FOUND,
    ["a click_id of another platform", { click_id: "updated 4", media_type: "baidu" }],
  ]);
  const CLIENTS = [...UPDATES.keys()];
  let before: Row[];
  let after: Row[];
  beforeAll(async () => {
    for (const number of [1, 2, 3, 4])
      await click({ company: "tencent", click_id: `updated ${number}`, wx_openid: `updated ${number}`, aid: "3" });
    await Promise.all(CLIENTS.map((client) => server.register(app, client)));
    before = await server.lookUp(app, ...CLIENTS);
    for (const [client_id, body] of UPDATES)
      await server.post("user/update_data/", app, body, { query: { client_id } });
    after = await server.lookUp(app, ...CLIENTS);
  });

  test.each(FOUND)("with %s changes the result", (client) => {
    const at = CLIENTS.indexOf(client);
    expect(before[at]).toMatchObject({ ...ORGANIC, client_id: client });
    expect(after[at]).toMatchObject({ client_id: client, click_company: "tencent", aid: "3" });
  });

  test("with a click_id of a platform other than the named one finds nothing", () => {
    expect(after.at(-1)).toMatchObject({ ...ORGANIC, client_id: "a click_id of another platform" });
  });
});

test("a touch from after the registration changes nothing", async () => {
  await click({ company: "vivo", oaid: "clicked", aid: "3", ts: Date.now() - HOUR_MS });
  for (const oaid of ["clicked", "not clicked"]) await server.register(app, oaid, android(oaid));
  for (const oaid of ["clicked", "not clicked"]) await click({ company: "oppo", oaid, ts: Date.now() + 1_000 });
  expect(await lookUp("clicked")).toMatchObject({ click_company: "vivo", aid: "3" });
  expect(await lookUp("not clicked")).toMatchObject(ORGANIC);
});

test("nothing overrides what an attributed register reported, organic included", async () => {
  const oaid = "reported";
  const body: Row = { ...attributedRegistration("reported"), device_info: { os_name: "android", oaid } };
  await server.post("user/register/attributed/", app, body);
  await server.post("user/register/attributed/", app, { ...body, client_id: "reported organic", click_company: "" });
  const both = () => server.lookUp(app, "reported", "reported organic");
  const before = await both();
  expect(before).toMatchObject([{ click_company: "tencent", aid: "t-adgroup" }, ORGANIC]);
  await click({ company: "vivo", oaid, ts: body.active_time - 1_000 });
  await server.register(app, "reported", { ad_data: { bd_vid: "reported" } });
  expect(await both()).toEqual(before);
  expect(await methodOf("reported")).toBe("reported");
});
