import { describe, expect, test } from "vitest";
import { settingsOf } from "../../src/platform/connector/connector.ts";
import { douyinRevenue } from "../../src/platform/douyin/revenue.ts";

const context = {
  account: settingsOf(douyinRevenue.fields, { advertiser_id: "tt1", app_secret: "s", access_token: "t" }),
  nowMs: 0,
  nonce: "n",
};
const question = { list: "records", day: "2026-11-01", page: 1 };
const read = (body: object) => douyinRevenue.read(question, { status: 200, body: JSON.stringify(body) }, context);
const told = (records: object[]) => read({ err_no: 0, err_msg: "", data: { records } });

test("all players' records of a day are asked for, 500 at a time", () => {
  const days = { fromDay: "2026-11-01", toDay: "2026-11-02" };
  expect(douyinRevenue.start(days, context)).toEqual([{ ...question, day: "2026-11-02" }, question]);
  expect(douyinRevenue.request({ ...question, page: 3 }, context)).toEqual({
    method: "GET",
    headers: {},
    url: "https://minigame.zijieapi.com/mgplatform/api/apps/data/get_ecpm?open_id=&mp_id=tt1&date_hour=2026-11-01&access_token=t&page_no=3&page_size=500",
  });
});

describe("an answer", () => {
  test("holds what each ad earned, in hundred-thousandths of a yuan, and asks for the next page", () => {
    const records = [
      { open_id: "o1", cost: 12345, event_time: "2026-11-01 08:00:00", aid: "1128" },
      { open_id: "o2", cost: "7", event_time: "2026-11-01 09:00:00", aid: "1128" },
    ];
    const earned = { day: "2026-11-01", views: 1, currency: "CNY" };
    expect(told(records)).toEqual({
      kind: "page",
      costs: [],
      earnings: [
        { ...earned, openId: "o1", micros: 123_450 },
        { ...earned, openId: "o2", micros: 70 },
      ],
      names: [],
      next: [{ ...question, page: 2 }],
    });
    expect(told([])).toMatchObject({ earnings: [], next: [] });
  });

  test.each<[string, unknown]>([
    ["no open id", undefined],
    ["one that stands for none", "null"],
    ["one that nobody can have", "x".repeat(200)],
  ])("keeps the revenue of a record with %s", (_, open_id) => {
    expect(told([{ open_id, cost: 5 }])).toMatchObject({ earnings: [{ openId: "", micros: 50 }] });
  });

  test.each<[string, object, string]>([
    ["a token that has ended", { err_no: 28001003, err_msg: "access_token is invalid" }, "token"],
    ["too many calls", { err_no: 28003018, err_msg: "slow down" }, "retry"],
    ["a day too long ago", { err_no: 28001007, err_msg: "bad parameter" }, "permanent"],
    ["a record without a cost", { err_no: 0, data: { records: [{ open_id: "o1" }] } }, "permanent"],
    ["a record with a part of a unit", { err_no: 0, data: { records: [{ open_id: "o1", cost: 1.5 }] } }, "permanent"],
    ["something else", { hello: "world" }, "retry"],
  ])("that is %s", (_, body, kind) => {
    expect(read(body)).toMatchObject({ kind });
  });
});

test("a token is asked for with the game's id and secret, and without them not at all", () => {
  const { request, read: readToken } = douyinRevenue.tokens!;
  expect(request(context)).toMatchObject({
    url: "https://minigame.zijieapi.com/mgplatform/api/apps/v2/token",
    body: JSON.stringify({ grant_type: "client_credential", appid: "tt1", secret: "s" }),
  });
  expect(request({ ...context, account: settingsOf(douyinRevenue.fields, {}) })).toBeUndefined();
  const given = { err_no: 0, err_tips: "success", data: { access_token: "t2", expires_in: 7200 } };
  expect(readToken({ status: 200, body: JSON.stringify(given) }, 1_000)).toEqual({
    kind: "token",
    values: { access_token: "t2" },
    expiresAtMs: 7_201_000,
    refreshExpiresAtMs: null,
  });
  expect(readToken({ status: 200, body: '{"err_no":40015,"err_tips":"bad secret"}' }, 0)).toMatchObject({
    kind: "permanent",
  });
});
