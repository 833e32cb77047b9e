import { describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { cliJson } from "../../cli/run.ts";
import { call as callUrl } from "../../support/call.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const TAKEN_IN = { status: 200, code: 0, msg: "success", data: {}, extra: {} };
/** Longer than a number can hold. */
const AD = "12345678901234567";
const CLICKED_MS = Date.now() - 3_600_000;
const ITEM = { requestId: "r-1", creativeId: 77, adId: AD, advertiserId: "9", clickTime: CLICKED_MS };

/** Posts a body to the click link; a list becomes JSON, with the ad's id as a number. */
function post(of: App, list: unknown, parameters: Record<string, string> = {}) {
  const query = new URLSearchParams({
    app_id: String(of.appId),
    company: "vivo",
    click_id: "__CLICKID__",
    ...parameters,
  });
  const body = typeof list === "string" ? list : JSON.stringify(list).replaceAll(`"${AD}"`, AD);
  const headers = { "content-type": "application/json" };
  return callUrl(`${server.url}${BASE}/event/click/?${query}`, { method: "POST", body, headers });
}

async function touchesOf(of: App): Promise<Row[]> {
  await server.settle();
  return tables.query(
    "select cid, aid, advertiser_id, channel, touched_at_ms, details from touch where app_id = $1 order by details->>'req_id'",
    [of.appId],
  );
}

async function ledgerOf(of: App): Promise<Row> {
  await server.settle();
  const minutes = await cliJson(server.dataDir, ["ledger", "--touches", "--app", String(of.appId)]);
  const sum = (name: string) => minutes.reduce((total: number, minute: Row) => total + minute[name], 0);
  return { received: sum("received"), stored: sum("stored"), duplicate: sum("duplicate") };
}

test("each click of a list that vivo posts is a touch, with raw or hashed ids", async () => {
  const app = await server.createApp();
  const list = [
    { ...ITEM, oaid: "a".repeat(64), imei: "b".repeat(32), ua: "V/1 (vivo)" },
    { ...ITEM, requestId: "r-2", clickId: "c-2", oaid: "c".repeat(32) },
    { placeType: 3 },
  ];
  expect(await post(app, list, { channel: "store" })).toMatchObject(TAKEN_IN);
  const touches = await touchesOf(app);
  const ids = { cid: "77", aid: AD, advertiser_id: "9", channel: "store", touched_at_ms: CLICKED_MS };
  expect(touches).toMatchObject([ids, ids]);
  expect(touches[0]!.details).toEqual({
    req_id: "r-1",
    oaid: "a".repeat(64),
    imei_md5: "b".repeat(32),
    ua: "V/1 (vivo)",
  });
  expect(touches[1]!.details).toEqual({ req_id: "r-2", click_id: "c-2", oaid_md5: "c".repeat(32) });
});

test("a click that is posted again, or told by the link as well, is one touch", async () => {
  const app = await server.createApp();
  await post(app, [ITEM, { ...ITEM, requestId: "r-2" }]);
  await post(app, [ITEM]);
  await post(app, "", { req_id: "r-1", cid: "77", aid: AD, advertiser_id: "9", ts: String(CLICKED_MS) });
  expect(await ledgerOf(app)).toEqual({ received: 4, stored: 2, duplicate: 2 });
});

test("a click of a list finds the user who registers with its device", async () => {
  const app = await server.createApp();
  const oaid = "d".repeat(64);
  await post(app, [{ ...ITEM, oaid }]);
  await server.register(app, "u", { device_info: { os_name: "android", oaid } });
  await server.settle();
  const why = await cliJson(server.dataDir, ["why", "u", "--app", String(app.appId)]);
  expect(why.candidates).toMatchObject([{ platform: "vivo", outcome: "won" }]);
});

describe("a list is refused as a whole:", () => {
  const ITEMS = Array.from({ length: LIMITS.linkItems + 1 }, (_, at) => ({ requestId: `r-${at}` }));

  test.each<[string, unknown, number, RegExp, Record<string, string>?]>([
    ["no item is a click", [{}, { placeType: 3 }], 1004, /holds no touch/],
    ["an item is no object", [ITEM, 5], 1004, /objects only/],
    ["it has too many items", ITEMS, 1004, /more than 100 items/],
    ["it is cut off", '[{"requestId":"r-1"}', 1001, /JSON/],
    ["it is larger than a link call", [{ ...ITEM, ua: "x".repeat(LIMITS.linkBytes - 100) }], 1413, /larger/],
    ["a long query would be written too often", ITEMS.slice(1), 1413, /larger/, { channel: "x".repeat(2_000) }],
  ])("%s", async (_, list, code, msg, parameters) => {
    const app = await server.createApp();
    expect(await post(app, list, parameters)).toMatchObject({ code, msg: expect.stringMatching(msg), data: {} });
    expect(await touchesOf(app)).toEqual([]);
  });
});

test("a list is ignored where the platform posts none", async () => {
  const app = await server.createApp();
  expect(await post(app, [ITEM, ITEM], { company: "tencent" })).toMatchObject({ code: 0 });
  expect(await ledgerOf(app)).toMatchObject({ received: 1 });
});
