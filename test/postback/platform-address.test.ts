import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { storeMediaToken } from "../../src/db/media-token.ts";
import { NOW_MS } from "../db/apply-stage.ts";
import { vault } from "../db/temp-database.ts";
import { PostbackStage } from "./postback-stage.ts";

let stage: PostbackStage;
let tencent: TencentStandIn;
beforeAll(async () => {
  stage = await PostbackStage.open();
  tencent = await startTencent({ clock: stage.clock });
});
beforeEach(() => stage.begin());
afterAll(async () => {
  await stage.close();
  await tencent.close();
});

/** One user brought by Tencent, with one postback. */
async function oneUser(): Promise<void> {
  await stage.pool.query("update postback_rule set enabled = moment = 'activate'");
  await stage.stage.append("register", "u", JSON.stringify({ name: "n", ad_data: { gdt_vid: "g" } }), { at: NOW_MS });
  await stage.stage.applyAll();
}

test.each(["127.0.0.1", "localhost", "[::ffff:7f00:1]"])(
  "a platform address that leads into a private network is not called: %s",
  async (host) => {
    const url = `${tencent.url.replace("127.0.0.1", host)}/v3.0/user_actions/add`;
    await stage.account({ adPlatform: "tencent", settings: { url }, secrets: { access_token: "t" } });
    await oneUser();
    const before = tencent.calls;
    await stage.send(stage.worker({ mayCallPrivate: { platforms: false, callbacks: true } }));
    expect(tencent.calls).toBe(before);
    expect(await stage.postbacks("status, reason")).toEqual([
      { status: 0, reason: expect.stringMatching(/private network/) },
    ]);
  },
);

test("the app's WeChat token, which belongs to no account, goes only to WeChat's own host", async () => {
  const token = { appId: stage.stage.app.appId, platform: "wechat", token: "lent", refreshedAtMs: 0 };
  await storeMediaToken(stage.pool, vault, token);
  const settings = { route: "wechat", user_action_set_id: "1", wechat_url: "https://other.example/" };
  await stage.account({ adPlatform: "tencent", settings });
  await oneUser();
  await stage.send(stage.worker());
  expect(await stage.postbacks("status, reason")).toEqual([
    { status: 3, reason: expect.stringMatching(/wechat_access_token/) },
  ]);
});
