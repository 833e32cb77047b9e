import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables, track } from "../fixture.ts";
import { addPeople, at, collect, payment, register, ZONE } from "./list-people.ts";
import { LISTS, type List, ReportLists } from "./report-lists.ts";

const server = sharedServer();
const tables = new Tables(server);
const lists = new ReportLists(server);

type Postback = { modified: string | null; back: number; pass: number; count: number };
type Paid = { id: string; cents: number; at: string; postback: Postback };

/** Orders as they arrive; each column has a different order. */
const ORDERS: readonly Paid[] = [
  {
    id: "c9",
    cents: 100,
    at: "2025-03-15T08:00:00.500",
    postback: { modified: "2025-04-01T00:00:01.000", back: 90, pass: 0, count: 3 },
  },
  {
    id: "a",
    cents: 20,
    at: "2025-03-14T08:00:00.000",
    postback: { modified: null, back: 0, pass: 1, count: 10 },
  },
  {
    id: "é",
    cents: 3,
    at: "2025-03-15T08:00:00.000",
    postback: { modified: "2025-04-01T00:00:00.000", back: 1000, pass: 0, count: 0 },
  },
  {
    id: "B",
    cents: 0,
    at: "2025-12-31T23:59:59.000",
    postback: { modified: "2025-03-31T23:59:59.000", back: 5, pass: 1, count: 2 },
  },
  {
    id: "c10",
    cents: 9999,
    at: "2024-12-31T08:00:00.000",
    postback: { modified: "2025-10-01T00:00:00.000", back: 20, pass: 1, count: 1 },
  },
];

/** Payments of people, and a later day on which they were active. */
const FIGURES: readonly { id: string; payments: number[]; seenAt: string }[] = [
  { id: "a", payments: [], seenAt: "2025-05-01T12:00:00" },
  { id: "B", payments: [500], seenAt: "2025-12-01T12:00:00" },
  { id: "c10", payments: [100, 100], seenAt: "2025-03-11T12:00:00" },
  { id: "c9", payments: [10, 20, 30], seenAt: "2025-04-30T23:59:59" },
  { id: "é", payments: [1, 1, 1996, 1], seenAt: "2025-05-02T00:00:00" },
];

const apps: Record<List, App | undefined> = { order: undefined, user: undefined };

beforeAll(async () => {
  const app = await server.createApp({ timeZone: ZONE });
  apps.order = app;
  await addPeople(server, app);
  for (const { id, cents, at: time } of ORDERS) await collect(server, app, id, payment(id, cents, {}, at(time)));
  await server.settle();
  for (const { id, postback } of ORDERS) {
    const { modified, back, pass, count } = postback;
    await tables.query(
      `update orders set modified_at_ms = $3, back_cents = $4, pass_status = $5, postback_count = $6
        where app_id = $1 and trace_id = $2`,
      [app.appId, id, modified && at(modified), back, pass, count],
    );
  }
});

beforeAll(async () => {
  const app = await server.createApp({ timeZone: ZONE });
  apps.user = app;
  await addPeople(server, app);
  for (const { id, payments, seenAt } of FIGURES) {
    const paid = payments.map((cents, number) => payment(`${id}-${number}`, cents, {}, at(seenAt)));
    await collect(server, app, id, { ...track("seen", {}, at(seenAt)), time_free: true }, ...paid);
  }
  await server.settle();
});

/** The values of each sortable field, ascending: numbers as numbers, times as times, texts by code point. */
const SHARED: readonly [string, unknown[]][] = [
  [
    "CreateTime",
    [
      ...["2025-03-09 23:59:59", "2025-03-10 00:00:00", "2025-03-10 23:59:59", "2025-03-11 00:00:00"],
      "2025-03-12 12:00:00",
    ],
  ],
  ["ClientID", ["B", "a", "c10", "c9", "é"]],
  ["AdPlatform", ["bytedance", "kuaishou", "natural", "tencent", "tencent"]],
  ["Channel", ["Store", "shop", "store", "web", "渠道"]],
  ["Version", [2, 9, 10, 11, 100]],
  ["TurboPromotedObjectID", ["", ...[1, 3, 4, 5].map((number) => `campaign-000000${number}`)]],
  ["WXOpenID", ["o-1", "o-2", "o-3", "o-4", "o-5"]],
  ["AdvertiserID", ["", "1000", "200", "30", "4"]],
  ["AdAid", ["", "10", "70", "8", "9"]],
];
const OF_ORDERS: readonly [string, unknown[]][] = [
  [
    "PayEventTime",
    [
      ...["2024-12-31 08:00:00", "2025-03-14 08:00:00", "2025-03-15 08:00:00", "2025-03-15 08:00:00"],
      "2025-12-31 23:59:59",
    ],
  ],
  ["ModifyTime", ["-", "2025-03-31 23:59:59", "2025-04-01 00:00:00", "2025-04-01 00:00:01", "2025-10-01 00:00:00"]],
  ["Amount", [0, 3, 20, 100, 9999]],
  ["PayCount", [1, 1, 1, 1, 1]],
  ["BackAmount", [0, 5, 20, 90, 1000]],
  ["PassStatus", [0, 0, 1, 1, 1]],
  ["PostbackCnt", [0, 1, 2, 3, 10]],
];
const OF_USERS: readonly [string, unknown[]][] = [
  ["LatestLoginDay", ["20250311", "20250430", "20250501", "20250502", "20251201"]],
  ["user$pay_amount_sum", [0, 60, 200, 500, 1999]],
  ["user$pay_count", [0, 1, 2, 3, 4]],
  ["user$pay_max_amount", [0, 30, 100, 500, 1996]],
];
const SORTABLE: Record<List, readonly [string, unknown[]][]> = {
  order: [...SHARED, ...OF_ORDERS],
  user: [...SHARED, ...OF_USERS],
};

const by = (...keys: [string, 0 | 1][]): Row => ({ order_by_list: keys.map(([field, sort]) => ({ field, sort })) });

describe.each(LISTS)("the %s list", (list) => {
  const column = (field: string, more: Row) => lists.column(list, apps[list]!, field, more);

  test.each(SORTABLE[list])("is sorted by %s, ascending with 0 and descending with 1", async (field, ascending) => {
    expect(await column(field, by([field, 0]))).toEqual(ascending);
    expect(await column(field, by([field, 1]))).toEqual([...ascending].reverse());
  });

  test("the next key breaks the ties of the one before, in its own direction", async () => {
    const clients = (...keys: [string, 0 | 1][]) => column("ClientID", by(...keys));
    expect(await clients(["AdPlatform", 0], ["Version", 0])).toEqual(["c10", "a", "é", "c9", "B"]);
    expect(await clients(["AdPlatform", 0], ["Version", 1])).toEqual(["c10", "a", "é", "B", "c9"]);
    expect(await clients(["AdPlatform", 1], ["Version", 0])).toEqual(["c9", "B", "é", "a", "c10"]);
    expect(await clients(["AdPlatform", 1], ["WXOpenID", 1], ["Channel", 0])).toEqual(["B", "c9", "é", "a", "c10"]);
    expect(await clients(["Version", 1], ["Version", 0], ["ClientID", 0])).toEqual(["c10", "é", "B", "a", "c9"]);
  });

  test("ties are in the same order each time, whatever is filtered out", async () => {
    const all: string[] = await column("ClientID", by(["AdPlatform", 1]));
    for (const client_id_list of [
      ["B", "c9"],
      ["c9", "B", "é"],
      ["B", "a", "c9"],
    ]) {
      const some = await column("ClientID", { ...by(["AdPlatform", 1]), user_filtering: { client_id_list } });
      expect(some).toEqual(all.filter((id) => client_id_list.includes(id)));
    }
  });

  test("a sorted list can be filtered and paged", async () => {
    const more = { ...by(["Version", 1]), user_filtering: { version_list: [2, 9, 10, 100] }, page_size: 3 };
    expect(await column("Version", more)).toEqual([100, 10, 9]);
    expect(await column("Version", { ...more, page: 2 })).toEqual([2]);
  });

  const others = SORTABLE[list === "order" ? "user" : "order"].map(([field]) => field);
  const here = SORTABLE[list].map(([field]) => field);
  test.each([
    ...others.filter((field) => !here.includes(field)),
    ..."Name AdGid AdCid CSite user$ad_count TraceID clientid client_id toString __proto__".split(" "),
    ...["", "ClientID desc", "1; drop table orders", "(select 1)", 'u"x'],
  ])("cannot be sorted by %j: 1004", async (field) => {
    await lists.expectRefused(list, apps[list]!, by([field, 0]), "order_by_list");
    await lists.expectRefused(list, apps[list]!, by(["ClientID", 0], [field, 0]), "order_by_list");
  });

  test.each<[unknown, string]>([
    [{ field: "ClientID", sort: 0 }, "order_by_list"],
    ["ClientID", "order_by_list"],
    [null, "order_by_list"],
    [["ClientID"], "order_by_list.0"],
    [[{ field: "ClientID" }], "sort"],
    [[{ sort: 1 }], "field"],
    [[{ field: 5, sort: 1 }], "field"],
    [[{ field: ["ClientID"], sort: 1 }], "field"],
    [[{ field: "ClientID", sort: 2 }], "sort"],
    [[{ field: "ClientID", sort: -1 }], "sort"],
    [[{ field: "ClientID", sort: 0.5 }], "sort"],
    [[{ field: "ClientID", sort: "1" }], "sort"],
    [[{ field: "ClientID", sort: "desc" }], "sort"],
    [[{ field: "ClientID", sort: true }], "sort"],
    [[{ field: "ClientID", sort: 0 }, null], "order_by_list.1"],
  ])("order_by_list %j is refused with 1004", async (order_by_list, named) => {
    await lists.expectRefused(list, apps[list]!, { order_by_list }, named);
  });

  test("an empty order_by_list means none", async () => {
    expect(await column("ClientID", { order_by_list: [] })).toEqual(await column("ClientID", {}));
  });
});

test("unsorted orders are in the order of receipt, unsorted users in the order of registration", async () => {
  expect(await lists.column("order", apps.order!, "TraceID")).toEqual(ORDERS.map(({ id }) => id));
  expect(await lists.column("user", apps.user!, "ClientID")).toEqual(["a", "B", "c9", "c10", "é"]);
});

test("orders are sorted by PayCount as a number", async () => {
  const app = await server.createApp();
  await register(server, app, "u");
  const numbers = Array.from({ length: 11 }, (_, index) => index + 1);
  for (const number of numbers) await collect(server, app, "u", payment(`o${number}`, 5));
  await server.settle();
  expect(await lists.column("order", app, "PayCount", by(["PayCount", 0]))).toEqual(numbers);
  expect(await lists.column("order", app, "PayCount", by(["PayCount", 1]))).toEqual([...numbers].reverse());
});
