import { afterAll, beforeAll, expect, test } from "vitest";
import { postbackTestAnswer, postbackTestFormAnswer } from "../../../src/contract/admin/postback-test.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, dataOf, refused } from "../../support/admin-caller.ts";
import { bring, type KuaishouStandIn, startKuaishou, urlOf } from "../../support/players.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);
let app: App;
let kuaishou: KuaishouStandIn;

beforeAll(async () => {
  kuaishou = await startKuaishou();
  app = await server.createApp();
  await bring(server, app, "u");
  await server.settle();
  const settings = { url: urlOf(kuaishou) };
  dataOf(await admin.post("accounts/set", { app_id: app.appId, ad_platform: "kuaishou", settings }));
});

afterAll(() => kuaishou.close());

const ask = (given: object) =>
  admin.post("postback/test", { app_id: app.appId, ad_platform: "kuaishou", event_type: "activate", ...given });

test("the platform's keys and its mark of tests are told", async () => {
  const form = async (ad_platform: string) =>
    dataOf(await admin.get("postback/test", { ad_platform }), postbackTestFormAnswer);
  expect(await form("kuaishou")).toEqual({ keys: ["callback"], mark: "" });
  expect(await form("gdt")).toMatchObject({ keys: ["callback", "click_id", "gdt_vid", "qz_gdt"], mark: "" });
  expect(await form("xiaomi")).toMatchObject({ mark: "/global/test" });
  const apple = await admin.get("postback/test", { ad_platform: "asa" });
  expect(apple).toMatchObject(refused(/asa does not accept postbacks/));
});

test("a conversion of a user reaches the platform at once; the call is shown, and no postback is made", async () => {
  const before = await tables.query("select count(*) from postback where app_id = $1", [app.appId]);
  const sent = dataOf(await ask({ client_id: "u" }), postbackTestAnswer);
  expect(sent).toMatchObject({ verdict: "accepted", answer: { status: 200 }, request: { method: "GET" } });
  expect(kuaishou.accepted.filter(({ key }) => key === "token-u")).toHaveLength(1);
  expect(await tables.query("select count(*) from postback where app_id = $1", [app.appId])).toEqual(before);
  const [noted] = await tables.query("select details from audit_log where app_id = $1 and action = 'postback/test'", [
    app.appId,
  ]);
  expect(noted).toMatchObject({ details: { client_id: "…", test_id: sent.test_id } });
});

test("a number may be a client id, and an unknown one is refused", async () => {
  expect(await ask({ client_id: 12_345 })).toMatchObject(refused(/no user with this client_id/, 2000));
  expect(await ask({})).toMatchObject(refused(/^Name a user by client_id/));
  expect(await ask({ click: { callback: 1 } })).toMatchObject(refused(/callback/));
});
