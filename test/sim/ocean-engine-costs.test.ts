import { afterEach, beforeEach, expect, test } from "vitest";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import { changed, get, NOW_MS, post, queryOf } from "./calls.ts";
import { someCosts } from "./costs.ts";

let engine: OceanEngineStandIn;
let nowMs: number;

beforeEach(async () => {
  nowMs = NOW_MS;
  engine = await startOceanEngine({ clock: () => nowMs, costs: someCosts("1700"), pageRows: 2 });
});
afterEach(() => engine.close());

const REPORT = {
  advertiser_id: "1700",
  data_topic: "BASIC_DATA",
  dimensions: '["stat_time_day","cdp_project_id","cdp_project_name","cdp_promotion_id","cdp_promotion_name"]',
  metrics: '["stat_cost","show_cnt","click_cnt"]',
  start_time: "2025-10-01",
  end_time: "2025-10-02",
  filters: "[]",
  order_by: "[]",
  page: 1,
  page_size: 100,
};
const PATH = "/v3.0/report/custom/get/";
const ask = (path: string, values: Record<string, string | number>, token = engine.tokens.accessToken) =>
  get(`${engine.url}/open_api${path}?${queryOf(values)}`, { "access-token": token });

test("the report comes in pages, as texts, in yuan", async () => {
  const { json } = await ask(PATH, REPORT);
  expect(json.data.page_info).toEqual({ page: 1, page_size: 2, total_number: 5, total_page: 3 });
  expect(json.data.rows[0]).toEqual({
    dimensions: {
      stat_time_day: "2025-10-01",
      cdp_project_id: "7100000000000000001",
      cdp_project_name: "Plan 7100000000000000001",
      cdp_promotion_id: "7200000000000000001",
      cdp_promotion_name: "Ad 7200000000000000001",
    },
    metrics: { stat_cost: "12.34", show_cnt: "12340", click_cnt: "1234" },
  });
  expect(json.data.total_metrics.stat_cost).toBe("13.91");
  expect((await ask(PATH, { ...REPORT, page: 3 })).json.data.rows).toHaveLength(1);
});

test("rows are added up over the dimensions that were not requested", async () => {
  const { json } = await ask(PATH, { ...REPORT, dimensions: '["cdp_project_id"]' });
  expect(json.data.rows.map((row: any) => row.metrics.stat_cost)).toEqual(["13.83", "0.08"]);
});

test("plans, ads and the account have names, and ids beyond a double", async () => {
  const plans = await fetch(`${engine.url}/open_api/v3.0/project/list/?advertiser_id=1700&page=1&page_size=10`, {
    headers: { "access-token": engine.tokens.accessToken },
  });
  expect(await plans.text()).toContain('{"project_id":7100000000000000001,"advertiser_id":1700,"name":"Plan 71000');
  const ads = await ask("/v3.0/promotion/list/", { advertiser_id: 1700, page: 2, page_size: 10 });
  expect(ads.json.data.list[0]).toMatchObject({ promotion_name: "Ad 7200000000000000003", status: "OK" });
  const account = await ask("/2/advertiser/info/", { advertiser_ids: "[1700]" });
  expect(account.json.data).toEqual([{ id: 1700, name: "Account 1700", status: "STATUS_ENABLE" }]);
});

test.each<[string, string, string, string | number | undefined, RegExp]>([
  ["more than 30 days", PATH, "end_time", "2025-10-31", /more than 30 days/],
  ["no filters, not even none", PATH, "filters", undefined, /filters/],
  ["an unknown dimension", PATH, "dimensions", '["campaign_id"]', /campaign_id is unknown/],
  ["an unknown metric", PATH, "metrics", '["cost"]', /cost is unknown/],
  ["a page of more than 100", PATH, "page_size", 101, /page_size/],
  ["another topic", PATH, "data_topic", "QUERY_DATA", /data_topic/],
  ["an account that the token may not see", PATH, "advertiser_id", 1, /not authorised/],
  ["a list with more than ten in a page", "/v3.0/project/list/", "page_size", 11, /page_size/],
  ["a list of ads with more than ten in a page", "/v3.0/promotion/list/", "page_size", 11, /page_size/],
])("refused: %s", async (_, path, name, value, reason) => {
  expect((await ask(path, changed(REPORT, name, value))).json.message).toMatch(reason);
});

test("an expired token has its own code; a refresh replaces both", async () => {
  expect((await ask(PATH, REPORT, "guess")).json.code).toBe(40105);
  nowMs += 86_400_000;
  expect((await ask(PATH, REPORT)).json.code).toBe(40102);
  const { appId: app_id, secret, tokens } = engine;
  const body = { app_id, secret, grant_type: "refresh_token", refresh_token: tokens.refreshToken };
  const { json } = await post(`${engine.url}/open_api/oauth2/refresh_token/`, body);
  expect(json.data).toMatchObject({ access_token: tokens.accessToken, expires_in: 86_400 });
  expect((await ask(PATH, REPORT)).json.code).toBe(0);
  expect((await post(`${engine.url}/open_api/oauth2/refresh_token/`, body)).json.code).toBe(40103);
});
