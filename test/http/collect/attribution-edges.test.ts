import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { storeRuleSettings } from "../../../src/db/attribution-setting.ts";
import { loadUsers } from "../../../src/db/user-account.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "../../cli/run.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS } from "../../db/apply-stage.ts";
import { AdminCaller } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { answerOf } from "../../support/touchpoint.ts";
import { BASE, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const link = `${server.url}${BASE}/event/click/`;

/** An app whose settings no test changes. */
let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

test("a HEAD of a link is refused with 405 and stores no touch", async () => {
  const answer = await fetch(`${link}?app_id=${app.appId}&company=tencent&click_id=head`, { method: "HEAD" });
  expect(answer.status).toBe(405);
  await server.settle();
  const stored = await tables.query("select 1 from touch where app_id = $1 and details->>'click_id' = 'head'", [
    app.appId,
  ]);
  expect(stored).toEqual([]);
});

test("a POST may carry everything in its form, without a query", async () => {
  const body = new URLSearchParams({ app_id: String(app.appId), company: "baidu", click_id: "c1" });
  expect(await answerOf(await fetch(link, { method: "POST", body }))).toMatchObject({ status: 200, code: 0 });
});

describe("the admin interface never answers 5000 to a wrong parameter:", () => {
  const admin = new AdminCaller(server);

  test("an app id beyond every id, in a change", async () => {
    const body = { app_id: 99_999_999_999, turbo_promoted_object_id: "x" };
    expect(await admin.post("campaigns/edit", body)).toMatchObject({ status: 200, code: 2001 });
  });

  test("a client id that the tables cannot hold", async () => {
    const { appId } = app;
    const answer = await admin.get("attribution/why", { app_id: appId, client_id: "\0" });
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("client_id") });
  });

  test("a rule that what-if cannot try is refused by name", async () => {
    const { appId } = app;
    const body = { app_id: appId, from: "2026-01-01", to: "2026-01-02", rules: { short_gap: "0" } };
    const answer = await admin.post("attribution/what-if", body);
    expect(answer).toMatchObject({ code: 1004, msg: expect.stringContaining("short_gap") });
  });
});

describe("the command line", () => {
  test("names an app that does not exist, however large its number", async () => {
    const result = await cli(server.dataDir, ["campaign", "set", "x", "--app", "99999999999", "--name", "n"]);
    expectFailure(result, /no app 99999999999/);
  });

  test("stores no akey if a rule beside it is refused", async () => {
    const { appId } = app;
    const set = ["rules", "set", "--app", String(appId), "--platform", "baidu", "--akey", "k", "--click-window", "x"];
    expectFailure(await cli(server.dataDir, set), /click_window/);
    expect(await tables.query("select 1 from platform_secret where app_id = $1", [appId])).toEqual([]);
  });

  test("sets rules for a platform of any name, because links accept any name", async () => {
    const { appId } = await server.createApp();
    const set = ["rules", "set", "--app", String(appId), "--platform", "my_network", "--click-window", "3d"];
    expect((await cliJson(server.dataDir, set))[1]).toMatchObject({ ad_platform: "my_network", click_window: "3d" });
  });

  test("what-if has no option for a rule that it cannot try", async () => {
    const { appId } = app;
    const days = ["--from", "2026-01-01", "--to", "2026-01-02"];
    const result = await cli(server.dataDir, ["what-if", "--app", String(appId), ...days, "--short-gap", "0"]);
    expectWrongArguments(result, /--short-gap/);
  });
});

test("a platform of any name has its own object in user get, and its click ids are found", async () => {
  const click = {
    app_id: String(app.appId),
    company: "my_network",
    click_id: "g1",
    callback: "cb",
    oaid: "o",
    aid: "7",
  };
  await server.get(`${BASE}/event/click/`, click);
  await server.register(app, "device", { device_info: { os_name: "android", oaid: "o" } });
  await server.register(app, "key");
  const media = { click_id: "g1", media_type: "my_network" };
  await server.post("user/update_data/", app, media, { query: { client_id: "key" } });
  const users = await server.lookUp(app, "device", "key");
  const my_network = { advertiser_id: "", gid: "", aid: "7", cid: "", callback: "cb" };
  for (const user of users) expect(user).toMatchObject({ click_company: "my_network", aid: "7", my_network });
});

describe("apply", () => {
  let stage: ApplyStage;
  beforeAll(async () => {
    stage = await ApplyStage.open();
  });
  beforeEach(() => stage.begin());
  afterAll(() => stage.close());

  test("a page full of impressions does not hide the click with the same click key", async () => {
    const on = { appId: stage.app.appId, platform: "", rules: { impressions: true }, changedAtMs: NOW_MS };
    await storeRuleSettings(stage.pool, on);
    const touch = (kind: "click" | "impression", ms: number, query: string) =>
      stage.append(kind, "", `company=tencent&req_id=vid&ts=${ms}&${query}`, { at: ms });
    await touch("click", NOW_MS - 3 * HOUR_MS, "click_id=c&aid=click");
    for (let index = 0; index < 60; index += 1)
      await touch("impression", NOW_MS - HOUR_MS + index, `impression_id=${index}&aid=impression`);
    await stage.register("u", { ad_data: { gdt_vid: "vid" } });
    await stage.applyAll();
    const [user] = await loadUsers(stage.pool, [{ appId: stage.app.appId, clientId: "u" }]);
    expect(user).toMatchObject({ aid: "click" });
  });

  test("an AdServices token of a second initialize counts within a day of the first", async () => {
    const body = { name: "n", channel: "c", version: 1 };
    for (const [client, afterMs] of Object.entries({ soon: DAY_MS - 1, late: DAY_MS })) {
      await stage.append("initialize", client, { client_id: client, ...body });
      const again = { client_id: client, ...body, asa_token: "t" };
      await stage.append("initialize", client, again, { at: NOW_MS + afterMs });
    }
    await stage.applyAll();
    expect((await stage.pool.query("select client_id from asa_token")).rows).toEqual([{ client_id: "soon" }]);
  });
});
