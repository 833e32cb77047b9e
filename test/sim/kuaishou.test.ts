import { afterEach, beforeEach, expect, test } from "vitest";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { changed, expectRefused, get, NOW_MS, post, queryOf } from "./calls.ts";
import { someCosts } from "./costs.ts";

let kuaishou: KuaishouStandIn;
let nowMs: number;

/** The day after the last one with costs: reports reach back a week. */
const AFTER_COSTS_MS = Date.UTC(2025, 9, 3, 4);

beforeEach(async () => {
  nowMs = AFTER_COSTS_MS;
  kuaishou = await startKuaishou({ clock: () => nowMs, costs: someCosts("900"), pageRows: 2 });
});
afterEach(() => kuaishou.close());

const PAY = { callback: "token-1", event_type: 3, event_time: NOW_MS, purchase_amount: "6.30" };
const send = (values: Record<string, string | number>) => get(`${kuaishou.url}/track/activate?${queryOf(values)}`);

test("a payment is accepted, and its yuan become cents without a rounding error", async () => {
  expect((await send(PAY)).json.result).toBe(1);
  await send({ ...PAY, purchase_amount: "0.29" });
  await send({ ...PAY, purchase_amount: "1156.15" });
  expect(kuaishou.accepted.map(({ cents }) => cents)).toEqual([630, 29, 115_615]);
  expect(kuaishou.accepted[0]).toMatchObject({ key: "token-1", code: "3", atMs: NOW_MS, isDuplicate: false });
});

test("a delivered callback is a whole address to which the event is appended", async () => {
  const url = `${kuaishou.callbackUrl("a+b/c=")}&event_type=1&event_time=${NOW_MS}`;
  expect((await get(url)).json.result).toBe(1);
  expect(kuaishou.accepted[0]).toMatchObject({ key: "a+b/c=", code: "1", cents: null });
});

test("the same event twice is counted twice: the platform only records", async () => {
  await send(PAY);
  await send(PAY);
  expect(kuaishou.accepted.map(({ isDuplicate }) => isDuplicate)).toEqual([false, false]);
});

test.each<[string, string, string | number | undefined, RegExp]>([
  ["no callback", "callback", undefined, /callback is missing/],
  ["a macro that was not replaced", "callback", "__CALLBACK__", /decoded failure/],
  ["an unknown event", "event_type", 4, /event_type 4 is unknown/],
  ["an event by name", "event_type", "pay", /event_type is not a whole number/],
  ["no time", "event_time", undefined, /event_time is missing/],
  ["time in seconds", "event_time", NOW_MS / 1000, /event_time is not between/],
  ["no amount of a payment", "purchase_amount", undefined, /purchase_amount is missing/],
  ["three decimals", "purchase_amount", "6.305", /two decimals/],
  ["an amount that is no number", "purchase_amount", "6,30", /two decimals/],
  ["an unknown pay level", "pay_level", "XL", /pay_level XL/],
])("refused: %s", async (_, name, value, reason) => {
  expect((await send(changed(PAY, name, value))).json.result).not.toBe(1);
  expectRefused(kuaishou, reason);
});

test.each([3, 12, 13, 14, 15])("event %i needs its amount", async (event_type) => {
  await send({ callback: "token-1", event_type, event_time: NOW_MS });
  expectRefused(kuaishou, /purchase_amount is missing/);
});

const REPORT = { advertiser_id: 900, start_date: "2025-10-01", end_date: "2025-10-02", page: 1, page_size: 2000 };
const ask = (path: string, body: unknown, token = kuaishou.tokens.accessToken) =>
  post(`${kuaishou.url}/rest/openapi${path}`, body, { "access-token": token });

test("the unit report comes in pages, in yuan", async () => {
  const pages = await Promise.all([1, 2, 3].map((page) => ask("/v1/report/unit_report", { ...REPORT, page })));
  expect(pages.map(({ json }) => [json.code, json.data.total_count, json.data.details.length])).toEqual([
    [0, 5, 2],
    [0, 5, 2],
    [0, 5, 1],
  ]);
  expect(pages[0]!.json.data.details[0]).toMatchObject({ stat_date: "2025-10-01", charge: 12.34, show: 12_340 });
});

test("a changed row is served as a correction", async () => {
  const costs = someCosts("900");
  const corrected = await startKuaishou({ clock: () => AFTER_COSTS_MS, costs });
  costs[0]!.cents = 1300;
  const { json } = await post(`${corrected.url}/rest/openapi/v1/report/unit_report`, REPORT, {
    "access-token": corrected.tokens.accessToken,
  });
  expect(json.data.details[0].charge).toBe(13);
  await corrected.close();
});

test("plans and ads have names", async () => {
  const plans = (await ask("/gw/dsp/campaign/list", { advertiser_id: 900 })).json.data.details;
  expect(plans[0]).toMatchObject({ campaign_name: "Plan 7100000000000000001", put_status: 1 });
  expect((await ask("/gw/dsp/unit/list", { advertiser_id: 900, page: 2 })).json.data.details[0].unit_name).toBe(
    "Ad 7200000000000000003",
  );
});

test.each<[string, unknown, RegExp]>([
  ["more rows in a page than there may be", { ...REPORT, page_size: 2001 }, /page_size/],
  ["days in the wrong order", { ...REPORT, start_date: "2025-10-03" }, /before the first/],
  ["a day that does not exist", { ...REPORT, end_date: "2025-10-32" }, /is not a day/],
  ["an account that the token may not see", { ...REPORT, advertiser_id: 901 }, /not authorised/],
])("a report is refused: %s", async (_, body, reason) => {
  expect((await ask("/v1/report/unit_report", body)).json.message).toMatch(reason);
});

test("a token expires after a day; a refresh replaces both", async () => {
  nowMs += 86_400_000;
  expect((await ask("/v1/report/unit_report", REPORT)).json.message).toMatch(/expired/);
  const { appId: app_id, secret } = kuaishou;
  const refresh_token = kuaishou.tokens.refreshToken;
  const { json } = await ask("/oauth2/authorize/refresh_token", { app_id: Number(app_id), secret, refresh_token });
  expect(json.data).toEqual({
    access_token: kuaishou.tokens.accessToken,
    access_token_expires_in: 86_400,
    refresh_token: kuaishou.tokens.refreshToken,
    refresh_token_expires_in: 30 * 86_400,
  });
  expect(json.data.refresh_token).not.toBe(refresh_token);
  expect((await ask("/v1/report/unit_report", REPORT)).json.code).toBe(0);
  expect((await ask("/oauth2/authorize/refresh_token", { app_id, secret, refresh_token })).json.code).not.toBe(0);
});

test("plans and ads requested by id come in one page, with all digits of their ids", async () => {
  const units = "[7200000000000000003,7200000000000000001,7200000000000000002]";
  const response = await fetch(`${kuaishou.url}/rest/openapi/gw/dsp/unit/list`, {
    method: "POST",
    headers: { "content-type": "application/json", "access-token": kuaishou.tokens.accessToken },
    body: `{"advertiser_id":900,"unit_ids":${units},"page":1,"page_size":100}`,
  });
  expect((await response.text()).match(/"unit_id":\d+/g)).toHaveLength(3);
  const { details } = (await ask("/gw/dsp/campaign/list", { advertiser_id: 900, campaign_ids: ["1"] })).json.data;
  expect(details).toEqual([]);
  const { data } = (await ask("/v1/advertiser/info", { advertiser_id: 900 })).json;
  expect(data).toMatchObject({ corporation_name: "Account 900" });
});

test("a task is made, asked after until it is done, and its file fetched; managed campaigns are only in wider reports", async () => {
  const costs = someCosts("900").map((row, at) => ({ ...row, isManaged: at === 1 }));
  const later = await startKuaishou({ clock: () => Date.UTC(2025, 10, 3), costs });
  const headers = { "access-token": later.tokens.accessToken };
  const days = { start_date: "2025-10-01", end_date: "2025-10-01" };
  const url = `${later.url}/rest/openapi/v1/async_task`;

  async function fileOf(view_type: number): Promise<string[]> {
    const body = { advertiser_id: 900, task_name: `View ${view_type}`, task_params: { ...days, view_type } };
    const { task_id } = (await post(`${url}/create`, body, headers)).json.data;
    const statusOf = async () =>
      (await post(`${url}/list`, { advertiser_id: 900, task_ids: [task_id] }, headers)).json.data.details[0]
        .task_status;
    const download = () => fetch(`${url}/download?${queryOf({ advertiser_id: 900, task_id })}`, { headers });
    expect(await (await download()).json()).toMatchObject({ message: expect.stringMatching(/not done/) });
    expect([await statusOf(), await statusOf()]).toEqual([1, 2]);
    return (await (await download()).text()).trim().split("\n");
  }

  expect(await fileOf(3)).toEqual([
    "stat_date,campaign_id,campaign_name,unit_id,unit_name,charge,show,aclick,photo_click,bclick",
    "2025-10-01,7100000000000000001,Plan 7100000000000000001,7200000000000000001,Ad 7200000000000000001,12.34,12340,12340,1234,1234",
    "2025-10-01,7100000000000000002,Plan 7100000000000000002,7200000000000000003,Ad 7200000000000000003,0.07,70,70,7,7",
  ]);
  const [, ...campaigns] = await fileOf(2);
  expect(campaigns.map((line) => line.split(",")[3])).toEqual(["12.84", "0.07"]);
  expect(await fileOf(1)).toEqual([
    "stat_date,charge,show,aclick,photo_click,bclick",
    "2025-10-01,12.91,12910,12910,1291,1291",
  ]);
  await later.close();
});
