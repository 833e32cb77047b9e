import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables } from "../fixture.ts";
import { register } from "./list-people.ts";
import { ReportLists } from "./report-lists.ts";

const server = sharedServer();
const tables = new Tables(server);
const lists = new ReportLists(server);

const EVENT_TYPES = [
  ..."activate register pay twice key_active withdraw_iaa create_role login customer_effective wx_launch".split(" "),
  ..."re_active retention_2d retention_3d retention_4d retention_5d retention_6d retention_7d retention_14d".split(" "),
  ..."retention_30d service_pay_success complete_order first_day_pay first_pay ad_quality game_action".split(" "),
  "action_valid",
];
const STATUSES = ["0", "1", "2", "3"];

type Postback = { client: string; type: string; status: number; subject?: string };

async function appWith(clients: string[], postbacks: Postback[]): Promise<App> {
  const app = await server.createApp();
  await Promise.all(clients.map((id) => register(server, app, id)));
  await server.settle();
  for (const { client, type, status, subject = "" } of postbacks) {
    await tables.query(
      `insert into postback (app_id, client_id, event_type, subject, status, back_cents) values ($1, $2, $3, $4, $5, 0)`,
      [app.appId, client, type, subject, status],
    );
  }
  return app;
}

const usersOf = async (app: App, postback_filtering: Row, more: Row = {}): Promise<string[]> =>
  (await lists.column("user", app, "ClientID", { event_filtering: { postback_filtering }, ...more })).sort();

describe("postback_filtering", () => {
  let app: App;
  const CLIENTS = ["failed", "mixed", "never", "other", "sent", "skipped", "waiting"];
  beforeAll(async () => {
    app = await appWith(CLIENTS, [
      { client: "waiting", type: "pay", status: 0, subject: "o1" },
      { client: "sent", type: "pay", status: 1, subject: "o2" },
      { client: "failed", type: "pay", status: 2, subject: "o3" },
      { client: "skipped", type: "pay", status: 3, subject: "o4" },
      { client: "mixed", type: "pay", status: 0, subject: "o5" },
      { client: "mixed", type: "pay", status: 1, subject: "o6" },
      { client: "other", type: "register", status: 1 },
    ]);
  });

  test.each([
    ["0", ["mixed", "never", "other", "waiting"]],
    ["1", ["mixed", "sent"]],
    ["2", ["failed"]],
    ["3", ["skipped"]],
  ])("status %s of pay finds %j", async (status, expected) => {
    expect(await usersOf(app, { event_type: "pay", status })).toEqual(expected);
  });

  test("status 0 also matches users without a postback of that type", async () => {
    expect(await usersOf(app, { event_type: "register", status: "0" })).toEqual(
      CLIENTS.filter((client) => client !== "other"),
    );
    expect(await usersOf(app, { event_type: "login", status: "0" })).toEqual(CLIENTS);
  });

  test("a postback of another type does not count", async () => {
    expect(await usersOf(app, { event_type: "register", status: "1" })).toEqual(["other"]);
    for (const status of ["1", "2", "3"]) expect(await usersOf(app, { event_type: "login", status })).toEqual([]);
  });

  test("combines with the filters on the user", async () => {
    const user_filtering = { client_id_list: ["sent", "failed", "never"] };
    expect(await usersOf(app, { event_type: "pay", status: "1" }, { user_filtering })).toEqual(["sent"]);
    expect(await usersOf(app, { event_type: "pay", status: "0" }, { user_filtering })).toEqual(["never"]);
  });

  test("counts and pages what it found, and a user with several postbacks once", async () => {
    const event_filtering = { postback_filtering: { event_type: "pay", status: "0" } };
    const { page_info, list } = await lists.read("user", app, { event_filtering, page: 2, page_size: 3 });
    expect(page_info).toEqual({ page: 2, page_size: 3, total_number: 4, total_page: 2 });
    expect(list).toHaveLength(1);
  });

  test("a postback of another app's user with the same id does not count", async () => {
    const other = await appWith(["sent"], []);
    expect(await usersOf(other, { event_type: "pay", status: "1" })).toEqual([]);
    expect(await usersOf(other, { event_type: "pay", status: "0" })).toEqual(["sent"]);
  });

  test.each<[unknown, string]>([
    [{ event_type: "payment", status: "1" }, "event_type"],
    [{ event_type: "PAY", status: "1" }, "event_type"],
    [{ event_type: "", status: "1" }, "event_type"],
    [{ event_type: "retention_8d", status: "1" }, "event_type"],
    [{ event_type: 5, status: "1" }, "event_type"],
    [{ event_type: ["pay"], status: "1" }, "event_type"],
    [{ event_type: null, status: "1" }, "event_type"],
    [{ event_type: "pay' or '1'='1", status: "1" }, "event_type"],
    [{ status: "1" }, "event_type"],
    [{ event_type: "pay", status: "4" }, "status"],
    [{ event_type: "pay", status: "-1" }, "status"],
    [{ event_type: "pay", status: "" }, "status"],
    [{ event_type: "pay", status: "succeeded" }, "status"],
    [{ event_type: "pay", status: 1 }, "status"],
    [{ event_type: "pay", status: ["1"] }, "status"],
    [{ event_type: "pay", status: null }, "status"],
    [{ event_type: "pay" }, "status"],
    [{}, "postback_filtering"],
    [[], "postback_filtering"],
    ["pay", "postback_filtering"],
    [null, "postback_filtering"],
  ])("%j is refused with 1004", async (postback_filtering, named) => {
    await lists.expectRefused("user", app, { event_filtering: { postback_filtering } }, named);
  });
});

describe("every event type can be asked for, with every status", () => {
  let app: App;
  const statusOf = (type: string) => EVENT_TYPES.indexOf(type) % 4;
  beforeAll(async () => {
    const postbacks = EVENT_TYPES.map((type) => ({ client: "with", type, status: statusOf(type) }));
    app = await appWith(["with", "without"], postbacks);
  });

  test("there are 26", () => {
    expect(new Set(EVENT_TYPES).size).toBe(26);
  });

  test.each(EVENT_TYPES)("%s", async (event_type) => {
    for (const status of STATUSES) {
      const expected = [
        ...(Number(status) === statusOf(event_type) ? ["with"] : []),
        ...(status === "0" ? ["without"] : []),
      ];
      expect(await usersOf(app, { event_type, status }), status).toEqual(expected);
    }
  });
});
