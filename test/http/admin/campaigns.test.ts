import { beforeAll, describe, expect, test } from "vitest";
import {
  campaignAnswer,
  campaignLinksAnswer,
  campaignListAnswer,
  platformListAnswer,
} from "../../../src/contract/setting/campaign.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, DAY_MS, type Row } from "../fixture.ts";

const server = sharedServer();
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");
const CAMPAIGN = "campaign-0000001";

const list = async (app: App, query: Row = {}) =>
  dataOf(await admin.get("campaigns", { app_id: app.appId, ...query }), campaignListAnswer);
const make = async (app: App, fields: Row) =>
  dataOf(await admin.post("campaigns/create", { app_id: app.appId, ...fields }), campaignAnswer);

describe("a list of many campaigns", () => {
  let app: App;
  beforeAll(async () => {
    app = await server.createApp();
    const numbers = Array.from({ length: 45 }, (_, at) => at + 1);
    for (const number of numbers) {
      const operator = number === 7 ? "Ann 100%_" : "";
      await make(app, {
        name: `Summer ${number}`,
        ad_platform: number % 2 ? "tencent" : "vivo",
        channel: "c",
        operator,
      });
    }
  });

  test("comes page by page, newest first, each campaign once", async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => list(app, { page })));
    expect(pages.map(({ campaigns }) => campaigns.length)).toEqual([20, 20, 5, 0]);
    expect(pages[0].page_info).toEqual({ page: 1, page_size: 20, total_number: 45, total_page: 3 });
    const names = pages.flatMap(({ campaigns }) => campaigns.map(({ name }: Row) => name));
    expect(new Set(names).size).toBe(45);
    expect(names.slice(0, 2)).toEqual(["Summer 45", "Summer 44"]);
    expect((await list(app, { page_size: 500 })).campaigns).toHaveLength(45);
  });

  test.each<[search: string, found: number]>([
    ["summer 4", 7],
    ["VIVO", 22],
    ["ann 100%_", 1],
    ["%", 1],
    ["_", 1],
    ["nothing", 0],
    ["'; drop table campaign", 0],
    ["\u0000", 0],
  ])("can be searched for %j", async (search, found) => {
    expect((await list(app, { search })).page_info.total_number).toBe(found);
  });

  test("can be searched by id", async () => {
    const [newest] = (await list(app, { page_size: 1 })).campaigns;
    const { campaigns } = await list(app, { search: newest.turbo_promoted_object_id.slice(2, 14) });
    expect(campaigns).toEqual([newest]);
  });

  test.each<[Row, RegExp]>([
    [{ page: "0" }, /page/],
    [{ page: "x" }, /page/],
    [{ page_size: "501" }, /page_size/],
    [{ page: "99999999", page_size: "500" }, /page/],
    [{ search: "s".repeat(201) }, /search/],
  ])("%j is refused", async (query, msg) => {
    const answer = await admin.get("campaigns", { app_id: app.appId, ...query });
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringMatching(msg), data: {} });
  });
});

test("a campaign shows the touches of its links and the new users of the last 7 days", async () => {
  const app = await server.createApp();
  await make(app, { turbo_promoted_object_id: CAMPAIGN, ad_platform: "vivo" });
  const touch = (kind: string, more: Row) =>
    server.get(`${BASE}/event/${kind}/`, { app_id: String(app.appId), company: "vivo", track_id: CAMPAIGN, ...more });
  const nowMs = Date.now();
  const ago = (days: number) => String(nowMs - days * DAY_MS);
  await touch("click", { oaid: "u", ts: ago(0) });
  await touch("click", { oaid: "v", ts: ago(2) });
  await touch("click", { oaid: "v", ts: ago(2) });
  await touch("click", { oaid: "w", ts: ago(8) });
  await touch("click", { oaid: "x", ts: ago(0), track_id: "campaign-0000002" });
  await touch("impression", { oaid: "u", ts: ago(1) });
  await server.register(app, "u", { device_info: { os_name: "android", oaid: "u" } });
  await server.settle();
  await eventually(async () => {
    const { campaigns, recent_days } = await list(app);
    expect(recent_days).toBe(7);
    // The same call twice is one click.
    expect(campaigns).toMatchObject([{ recent: { clicks: 2, impressions: 1, users: 1 } }]);
  });
  const other = await server.createApp();
  await make(other, { turbo_promoted_object_id: CAMPAIGN });
  expect((await list(other)).campaigns[0].recent).toEqual({ clicks: 0, impressions: 0, users: 0 });
});

test("links come with the macros that the platform replaces", async () => {
  const app = await server.createApp();
  const key = { app_id: app.appId, turbo_promoted_object_id: CAMPAIGN };
  await make(app, { turbo_promoted_object_id: CAMPAIGN, ad_platform: "tencent" });
  const { links } = dataOf(await admin.get("campaigns/links", key), campaignLinksAnswer);
  expect(links.map(({ kind }: Row) => kind)).toEqual(["click", "impression"]);
  for (const { url, macros } of links) {
    const parameters = new Map(
      url
        .split("?")[1]
        .split("&")
        .map((pair: string) => pair.split("=")),
    );
    expect(macros.length).toBeGreaterThan(10);
    for (const { parameter, macro } of macros) expect(parameters.get(parameter)).toBe(macro);
  }
  expect(links[0].macros).toContainEqual({ parameter: "advertiser_id", macro: "__ACCOUNT_ID__", certainty: "certain" });
});

test("platforms say what they support", async () => {
  const { platforms, publishers } = dataOf(await admin.get("platforms"), platformListAnswer);
  expect(publishers).toEqual(["wechat", "douyin"]);
  const named = (name: string) => platforms.find((platform: Row) => platform.name === name);
  expect(named("tencent")).toEqual({
    name: "tencent",
    click_links: true,
    impression_links: true,
    has_own_macros: true,
    postbacks: true,
    costs: true,
  });
  expect(named("baidu")).toMatchObject({ click_links: true, impression_links: false });
  expect(named("asa")).toMatchObject({ click_links: false, postbacks: false, costs: true });
  expect(named("tiktok")).toMatchObject({ has_own_macros: false, postbacks: false, costs: false });
});

test("an analyst sees campaigns, links and platforms, and cannot change them", async () => {
  const app = await server.createApp();
  const key = { app_id: app.appId, turbo_promoted_object_id: CAMPAIGN };
  await make(app, { turbo_promoted_object_id: CAMPAIGN });
  for (const path of ["campaigns", "campaigns/links", "platforms"])
    expect(await analyst.get(path, key)).toMatchObject({ code: 0 });
  for (const path of ["campaigns/create", "campaigns/edit"])
    expect(await analyst.post(path, { ...key, name: "theirs" })).toMatchObject({ code: 2004 });
  expect((await list(app)).campaigns).toMatchObject([{ name: "" }]);
});
