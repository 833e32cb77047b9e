import { beforeAll, expect, test } from "vitest";
import { accountFieldsAnswer } from "../../../src/contract/setting/account.ts";
import { platformListAnswer } from "../../../src/contract/setting/campaign.ts";
import { connectorCheckAnswer, connectorListAnswer } from "../../../src/contract/setting/connector.ts";
import type { App } from "../../../src/db/app.ts";
import { workedExample } from "../../platform/declared/worked-examples.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Row } from "../fixture.ts";

const server = sharedServer();
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");

let app: App;
beforeAll(async () => {
  app = await server.createApp();
});

const body = (more: object = {}) => {
  return { app_id: app.appId, ad_platform: "uc", declaration: workedExample("uc"), ...more };
};

test("an analyst reads and checks connectors, and only an admin changes them", async () => {
  const check = dataOf(await analyst.post("connectors/check", body()), connectorCheckAnswer);
  expect(check.calls[0]!.request!.url).toMatch(
    /^https:\/\/huichuan\.uc\.cn\/\?click_id=CLICK-ID&type=1&event_time=\d{13}&oaid=OAID&/,
  );
  for (const path of ["connectors/set", "connectors/remove"])
    expect(await analyst.post(path, body())).toMatchObject({ code: 2004 });
  expect(await admin.post("connectors/set", body())).toMatchObject({ code: 0 });
  const { connectors, placeholders } = dataOf(
    await analyst.get("connectors", { app_id: app.appId }),
    connectorListAnswer,
  );
  expect(connectors).toMatchObject([{ ad_platform: "uc", declaration: workedExample("uc"), accounts: 0 }]);
  expect(placeholders.map(({ name }: Row) => name)).toContain("click_id");
});

test("a declared platform is listed, and has account fields and tests, for its own app alone", async () => {
  expect(await admin.post("connectors/set", body())).toMatchObject({ code: 0 });
  const platformsOf = async (query: object) =>
    dataOf(await admin.get("platforms", query), platformListAnswer).platforms.find(({ name }: Row) => name === "uc");
  expect(await platformsOf({})).toMatchObject({ postbacks: false });
  expect(await platformsOf({ app_id: app.appId })).toMatchObject({ postbacks: true, costs: false, click_links: true });
  const key = { ad_platform: "uc", app_id: app.appId };
  const { fields } = dataOf(await admin.get("accounts/fields", key), accountFieldsAnswer);
  expect(fields.map(({ name }: Row) => name)).toEqual(["codes", "repeats"]);
  expect(await admin.get("accounts/fields", { ad_platform: "uc" })).toMatchObject({ code: 1004 });
  expect(await admin.get("postback/test", key)).toMatchObject({ code: 0, data: { keys: ["callback", "click_id"] } });
  const other = await server.createApp();
  expect(await admin.get("postback/test", { ...key, app_id: other.appId })).toMatchObject({ code: 1004 });
});

test("a bad declaration is refused in one sentence", async () => {
  const declaration = { ...workedExample("uc"), codes: { buy: "1" } };
  const refused = { code: 1004, msg: expect.stringMatching(/^codes: "buy" is not an event type/) };
  expect(await admin.post("connectors/set", body({ declaration }))).toMatchObject(refused);
  expect(await admin.post("connectors/check", body({ declaration }))).toMatchObject(refused);
  expect(await admin.post("connectors/set", body({ declaration: [] }))).toMatchObject({ code: 1004 });
});
