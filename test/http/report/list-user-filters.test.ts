import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Row } from "../fixture.ts";
import { addPeople, collect, PEOPLE, payment, ZONE } from "./list-people.ts";
import { LISTS, ReportLists } from "./report-lists.ts";

const server = sharedServer();
const lists = new ReportLists(server);
const EVERYBODY = PEOPLE.map(({ id }) => id);

/** An app in which everyone has one order. */
let app: App;
beforeAll(async () => {
  app = await server.createApp({ timeZone: ZONE });
  await addPeople(server, app);
  for (const { id } of PEOPLE) await collect(server, app, id, payment(id, 100));
  await server.settle();
});

const FIELDS = [
  ..."create_date_list ad_platform_list channel_list version_list turbo_promoted_object_id_list".split(" "),
  ..."advertiser_id_list gid_list aid_list cid_list wx_openid_list client_id_list".split(" "),
];

/** Every field alone, with one value, with several, and with a value that no one has. */
const CASES: readonly [Row, string[]][] = [
  [{ create_date_list: ["2025-03-09", "2025-03-09"] }, ["a"]],
  [{ create_date_list: ["2025-03-10", "2025-03-10"] }, ["B", "c9"]],
  [{ create_date_list: ["2025-03-11", "2025-03-11"] }, ["c10"]],
  [{ create_date_list: ["2025-03-09", "2025-03-10"] }, ["B", "a", "c9"]],
  [{ create_date_list: ["2025-03-10", "2025-03-12"] }, ["B", "c10", "c9", "é"]],
  [{ create_date_list: ["2025-03-13", "2025-12-31"] }, []],
  [{ ad_platform_list: ["tencent"] }, ["B", "c9"]],
  [{ ad_platform_list: ["kuaishou", "bytedance"] }, ["a", "c10"]],
  [{ ad_platform_list: ["natural"] }, ["é"]],
  [{ ad_platform_list: ["natural", "kuaishou"] }, ["a", "é"]],
  [{ ad_platform_list: ["asa"] }, []],
  [{ channel_list: ["store"] }, ["c10"]],
  [{ channel_list: ["Store", "渠道"] }, ["a", "c9"]],
  [{ channel_list: ["stor"] }, []],
  [{ channel_list: ["%"] }, []],
  [{ version_list: [10] }, ["B"]],
  [{ version_list: [9, 100, 9] }, ["a", "c10"]],
  [{ version_list: [9.5] }, []],
  [{ version_list: [1e300] }, []],
  [{ turbo_promoted_object_id_list: ["campaign-0000001"] }, ["c9"]],
  [{ turbo_promoted_object_id_list: ["campaign-0000003", "campaign-0000005"] }, ["a", "c10"]],
  [{ turbo_promoted_object_id_list: ["campaign-000000"] }, []],
  [{ advertiser_id_list: ["200"] }, ["B"]],
  [{ advertiser_id_list: ["4", "30", "nobody"] }, ["c10", "c9"]],
  [{ advertiser_id_list: ["20"] }, []],
  [{ gid_list: ["p1"] }, ["B", "c9"]],
  [{ gid_list: ["p2", "p3"] }, ["a", "c10"]],
  [{ gid_list: ["9"] }, []],
  [{ aid_list: ["9"] }, ["B"]],
  [{ aid_list: ["70", "8"] }, ["c10", "c9"]],
  [{ aid_list: ["p1"] }, []],
  [{ cid_list: ["c1"] }, ["B", "c9"]],
  [{ cid_list: ["c2", "c3"] }, ["a", "c10"]],
  [{ cid_list: ["C1"] }, []],
  [{ wx_openid_list: ["o-4"] }, ["é"]],
  [{ wx_openid_list: ["o-1", "o-2"] }, ["a", "c9"]],
  [{ wx_openid_list: ["o"] }, []],
  [{ client_id_list: ["é"] }, ["é"]],
  [{ client_id_list: ["a", "B"] }, ["B", "a"]],
  [{ client_id_list: ["A"] }, []],
];

/** Filters of which a user must match all. */
const COMBINED: readonly [Row, string[]][] = [
  [{ gid_list: ["p1"], advertiser_id_list: ["4", "30"] }, ["c9"]],
  [{ gid_list: ["p1"], advertiser_id_list: ["30"] }, []],
  [{ ad_platform_list: ["natural", "tencent"], version_list: [2, 11], channel_list: ["渠道", "shop"] }, ["c9", "é"]],
  [{ create_date_list: ["2025-03-10", "2025-03-11"], ad_platform_list: ["bytedance"], channel_list: [] }, ["c10"]],
  [
    {
      create_date_list: ["2025-03-10", "2025-03-10"],
      ad_platform_list: ["tencent"],
      channel_list: ["web"],
      version_list: [10],
      turbo_promoted_object_id_list: ["campaign-0000004"],
      advertiser_id_list: ["200"],
      gid_list: ["p1"],
      aid_list: ["9"],
      cid_list: ["c1"],
      wx_openid_list: ["o-3"],
      client_id_list: ["B"],
    },
    ["B"],
  ],
];

describe.each(LISTS)("user_filtering of the %s list", (list) => {
  const clients = async (user_filtering: Row) => (await lists.column(list, app, "ClientID", { user_filtering })).sort();

  test.each(CASES)("%j finds %j", async (filter, expected) => {
    expect(await clients(filter)).toEqual(expected);
  });

  test.each(COMBINED)("all must hold: %j finds %j", async (filter, expected) => {
    expect(await clients(filter)).toEqual(expected);
  });

  test.each(FIELDS)("an empty %s filters nothing", async (field) => {
    expect(await clients({ [field]: [] })).toEqual(EVERYBODY);
  });

  test("all fields empty filter as little as none", async () => {
    expect(await clients(Object.fromEntries(FIELDS.map((field) => [field, []])))).toEqual(EVERYBODY);
    expect(await clients({})).toEqual(EVERYBODY);
  });

  test("the count is that of the records found", async () => {
    const { page_info } = await lists.read(list, app, { user_filtering: { gid_list: ["p1"] } });
    expect(page_info).toEqual({ page: 1, page_size: 20, total_number: 2, total_page: 1 });
  });

  test.each(FIELDS.filter((field) => field !== "version_list"))(
    "%s must be a list of texts, else 1004",
    async (field) => {
      for (const bad of ["x", 5, {}, null, [5], [null], [["x"]], true])
        await lists.expectRefused(list, app, { user_filtering: { [field]: bad } }, field);
    },
  );

  test("version_list must be a list of numbers, else 1004", async () => {
    for (const bad of [9, "9", ["9"], [null], {}, null])
      await lists.expectRefused(list, app, { user_filtering: { version_list: bad } }, "version_list");
  });

  test.each([
    [["2025-03-10"]],
    [["2025-03-10", "2025-03-11", "2025-03-12"]],
    [["2025-03-11", "2025-03-10"]],
    [["2025-02-29", "2025-03-10"]],
    [["2025-3-9", "2025-03-10"]],
    [["20250309", "20250310"]],
    [["2025-03-09 00:00:00", "2025-03-10 00:00:00"]],
    [["", ""]],
    [["yesterday", "today"]],
    [["2025-03-09'; drop table orders; --", "2025-03-10"]],
  ])("create_date_list %j is refused with 1004", async (create_date_list) => {
    await lists.expectRefused(list, app, { user_filtering: { create_date_list } }, "create_date_list");
  });

  test("a value is compared, never executed", async () => {
    for (const value of ["' or '1'='1", "\\", "x'); drop table user_account; --", "$1", "\u0000", "\ud800", "{a,B}"])
      for (const field of FIELDS.filter((one) => !/^(?:create_date|version)/.test(one)))
        expect(await clients({ [field]: [value] })).toEqual([]);
    expect(await clients({})).toEqual(EVERYBODY);
  });
});

test("dates of registration are in each app's own time zone", async () => {
  const registeredAtMs = Date.parse("2025-03-10T18:00:00Z");
  for (const [timeZone, day] of [
    ["Asia/Shanghai", "2025-03-11"],
    ["America/Los_Angeles", "2025-03-10"],
    ["Pacific/Kiritimati", "2025-03-11"],
    ["UTC", "2025-03-10"],
  ] as const) {
    const other = await server.createApp({ timeZone });
    await server.post("user/register/attributed/", other, {
      client_id: "u",
      name: "n",
      channel: "c",
      version: 1,
      turbo_promoted_object_id: "",
      active_ip: "",
      active_time: registeredAtMs,
      click_time: "",
      click_ip: "",
      click_company: "",
      ad_data: {},
      os_type: "",
    });
    await server.settle();
    for (const asked of ["2025-03-10", "2025-03-11"]) {
      const user_filtering = { create_date_list: [asked, asked] };
      const found = await lists.column("user", other, "ClientID", { user_filtering });
      expect(found, `${timeZone} ${asked}`).toEqual(asked === day ? ["u"] : []);
    }
  }
});
