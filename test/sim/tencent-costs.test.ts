import { afterEach, beforeEach, expect, test } from "vitest";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { changed, get, NOW_MS, NOW_SECONDS, queryOf } from "./calls.ts";
import { someCosts } from "./costs.ts";

let tencent: TencentStandIn;
let nonce: number;

beforeEach(async () => {
  nonce = 0;
  tencent = await startTencent({ clock: () => NOW_MS, costs: someCosts("25610"), pageRows: 2, readsPerMinute: 6 });
});
afterEach(() => tencent.close());

const REPORT = {
  account_id: 25610,
  level: "REPORT_LEVEL_ADGROUP",
  date_range: '{"start_date":"2025-10-01","end_date":"2025-10-02"}',
  group_by: '["date","adgroup_id"]',
  fields: '["date","adgroup_id","view_count","valid_click_count","cost"]',
  page: 1,
  page_size: 1000,
};

function ask(path: string, values: Record<string, string | number>) {
  nonce += 1;
  const credentials = { access_token: tencent.tokens.accessToken, timestamp: NOW_SECONDS, nonce: `n${nonce}` };
  return get(`${tencent.url}/v3.0${path}?${queryOf({ ...credentials, ...values })}`);
}

test("the daily report comes in pages, in fen, with the requested fields", async () => {
  const first = await ask("/daily_reports/get", REPORT);
  expect(first.json.data.page_info).toEqual({ page: 1, page_size: 2, total_number: 5, total_page: 3 });
  expect(Object.keys(first.json.data.list[0])).toEqual([
    "date",
    "adgroup_id",
    "view_count",
    "valid_click_count",
    "cost",
  ]);
  expect(first.json.data.list[0]).toMatchObject({ date: "2025-10-01", cost: 1234, view_count: 12_340 });
  const last = await ask("/daily_reports/get", { ...REPORT, page: 3 });
  expect(last.json.data.list).toHaveLength(1);
});

test("ids are numbers with all their digits", async () => {
  const response = await fetch(
    `${tencent.url}/v3.0/adgroups/get?${queryOf({
      access_token: tencent.tokens.accessToken,
      timestamp: NOW_SECONDS,
      nonce: "n",
      account_id: 25610,
    })}`,
  );
  expect(await response.text()).toContain('"adgroup_id":7200000000000000001,');
});

test("ads and the account have names", async () => {
  expect((await ask("/adgroups/get", { account_id: 25610, page: 2, page_size: 100 })).json.data.list[0]).toMatchObject({
    adgroup_name: "Ad 7200000000000000003",
    configured_status: "AD_STATUS_NORMAL",
  });
  expect((await ask("/advertiser/get", { account_id: 25610 })).json.data.list[0]).toMatchObject({
    account_id: 25610,
    corporation_name: "Account 25610",
  });
});

test.each<[string, string, string | number | undefined, RegExp]>([
  ["no account", "account_id", undefined, /account_id is missing/],
  ["an account that the token may not see", "account_id", 1, /not authorised/],
  ["an unknown level", "level", "AD", /level AD is unknown/],
  ["days that are not JSON", "date_range", "2025-10-01", /date_range/],
  ["more than 90 days", "date_range", '{"start_date":"2025-01-01","end_date":"2025-04-01"}', /more than 90 days/],
  ["an unknown field", "fields", '["spend"]', /fields spend is unknown/],
  ["a group that is no list", "group_by", '"date"', /group_by is not a list/],
  ["page 0", "page", 0, /page is not between/],
  ["a page that is too large", "page_size", 2001, /page_size is not between/],
])("refused: %s", async (_, name, value, reason) => {
  expect((await ask("/daily_reports/get", changed(REPORT, name, value))).json.message).toMatch(reason);
});

test("each interface has a rate limit, and calls beyond it get the platform's code", async () => {
  for (let call = 0; call < 6; call += 1) expect((await ask("/daily_reports/get", REPORT)).json.code).toBe(0);
  expect((await ask("/daily_reports/get", REPORT)).json.code).toBe(11017);
  expect((await ask("/advertiser/get", { account_id: 25610 })).json.code).toBe(0);
});
