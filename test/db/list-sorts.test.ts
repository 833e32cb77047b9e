import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newUser } from "../../src/apply/facts/new-user.ts";
import { noteAdAccounts } from "../../src/db/ad-account.ts";
import type { App } from "../../src/db/app.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { changeLoginTotals, LoginTotalChanges } from "../../src/db/login-total.ts";
import { insertOrders, type Order } from "../../src/db/orders.ts";
import { insertUsers, type UserAccount } from "../../src/db/user-account.ts";
import { insertUserDays } from "../../src/db/user-day.ts";
import { changeTotals, TotalChanges } from "../../src/db/user-total.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import type { UserFilterBody, Window } from "../../src/report/list/list-request.ts";
import { readOrderList } from "../../src/report/list/order-list.ts";
import { readOrderPage } from "../../src/report/list/order-pages.ts";
import { readUserList } from "../../src/report/list/user-list.ts";
import { readUserPage } from "../../src/report/list/user-pages.ts";
import { makeApp, migratedDatabase, type TempDatabase } from "./temp-database.ts";

const USERS = 1_200;
/** Ids that are equal in all that the index has of them. */
const LONG_ID = "o".repeat(70);

type Population = { app: App; users: UserAccount[]; orders: Order[] };

let database: TempDatabase;
let named: Population;
let unnamed: Population;
beforeAll(async () => {
  database = await migratedDatabase();
  named = await populate("account1");
  unnamed = await populate("");
});
afterAll(() => database.drop());

/** Days on which so few users were last active that they are looked for among those of the day. */
const RARE: readonly (string | null)[] = ["2024-06-19", "2024-06-21", null];

const people = fc.record({
  channel: fc.constantFrom("", "Store", "store", "渠道", "é"),
  version: fc.constantFrom(0, 9, 10, 1_000_000_000_000),
  wxOpenid: fc.oneof(fc.constant(""), fc.constant(LONG_ID), fc.nat(999).map(String), long()),
  campaignId: fc.constantFrom("", "campaign00000001", "campaign00000002"),
  aid: fc.oneof(fc.constant(""), fc.nat(30).map(String)),
  adPlatform: fc.constantFrom("", "vivo", "tencent"),
  registeredDay: fc.constantFrom("2024-06-15", "2024-06-16"),
  hour: fc.nat(9),
  payCount: fc.constantFrom(0, 0, 1, 3),
});

function long(): fc.Arbitrary<string> {
  return fc.constantFrom("a", "B", "渠").map((end) => `${LONG_ID}${end}`);
}

/** Users of whom those with an ad name `advertiserId` as its account, with their orders. */
async function populate(advertiserId: string): Promise<Population> {
  const { pool } = database;
  const app = await makeApp(pool, "UTC");
  const { appId } = app;
  const calendar = calendarOf("UTC");
  const users = fc.sample(people, { numRuns: USERS, seed: 18 }).map(({ hour, ...user }, number): UserAccount => {
    const registeredAtMs = Date.parse(user.registeredDay) + hour * 3_600_000;
    // In an order of their own, and not that of their numbers.
    const clientId = `${(number * 7_919) % USERS}-user`;
    const latestLoginDay = RARE[number % (USERS / 2)] ?? (number % 3 === 0 ? "2024-06-18" : "2024-06-20");
    const account = user.aid === "" ? "" : user.aid === "7" ? "account0" : advertiserId;
    return {
      ...newUser({ appId, clientId }, registeredAtMs, { calendar }),
      ...user,
      advertiserId: account,
      latestLoginDay,
    };
  });
  const orders = users.flatMap((user) => Array.from({ length: user.payCount }, (_, index) => orderOf(user, index)));
  const [totals, logins] = [new TotalChanges(), new LoginTotalChanges()];
  for (const user of users) {
    totals.enter(user);
    logins.add(user, 1);
  }
  await inTransaction(pool, async (tx) => {
    await insertUsers(tx, users);
    await insertUserDays(
      tx,
      users.flatMap(({ clientId, latestLoginDay: day }) =>
        day === null ? [] : [{ ...NOTHING, appId, clientId, day }],
      ),
    );
    await insertOrders(tx, orders);
    await changeTotals(tx, totals);
    await changeLoginTotals(tx, logins);
    await noteAdAccounts(
      tx,
      ["3", "12"].map((aid) => ({ appId, adPlatform: "vivo", advertiserId: `owner${aid}`, gid: "", aid })),
      0,
    );
  });
  await pool.query("analyze user_account, user_day, orders");
  return { app, users, orders };
}

const NOTHING = {
  sinceTouch: 0,
  sinceRegistration: 0,
  trackEvents: 1,
  registerEvents: 0,
  payCount: 0,
  payCents: 0,
  adCount: 0,
  adMicros: 0,
};

function orderOf({ appId, clientId, registeredDay, adPlatform }: UserAccount, index: number): Order {
  const traceId = `${(Number.parseInt(clientId, 10) * 31 + index * 17) % 997}-${clientId}-${index}`;
  const money = { cents: 100, currency: "CNY", sentAmount: 100, hasRate: true, payCount: index + 1, isVirtual: 0 };
  const about = { properties: "{}", postbackStatus: 0, passStatus: 0, registeredDay, adPlatform } as const;
  return { appId, clientId, traceId, day: registeredDay, atMs: 1, receivedAtMs: 2, ...money, ...about };
}

type Value = string | number;

/** The account that reports show: the one that is named, else the one whose costs name the ad. */
function accountOf({ advertiserId, adPlatform, aid }: UserAccount): string {
  if (advertiserId !== "" || adPlatform !== "vivo") return advertiserId;
  return aid === "3" || aid === "12" ? `owner${aid}` : "";
}

const FIELDS: Readonly<Record<string, (user: UserAccount) => Value>> = {
  CreateTime: (user) => user.registeredAtMs,
  Channel: (user) => user.channel,
  Version: (user) => user.version,
  TurboPromotedObjectID: (user) => user.campaignId,
  WXOpenID: (user) => user.wxOpenid,
  AdvertiserID: accountOf,
  AdAid: (user) => user.aid,
};
const USER_FIELDS: typeof FIELDS = { ...FIELDS, LatestLoginDay: (user) => user.latestLoginDay ?? "" };

const FILTERS: [UserFilterBody, (user: UserAccount) => boolean][] = [
  [{}, () => true],
  [{ ad_platform_list: ["vivo", "natural"] }, (user) => user.adPlatform !== "tencent"],
  [{ create_date_list: ["2024-06-16", "2024-06-16"] }, (user) => user.registeredDay === "2024-06-16"],
  [{ create_date_list: ["2024-06-01", "2024-06-30"] }, () => true],
  [{ version_list: [10] }, (user) => user.version === 10],
];

/** Code points of these texts are in the order of JavaScript's strings. */
const compare = (one: Value, other: Value) => (one < other ? -1 : Number(one > other));

const PAGE_SIZE = 37;

/** The first pages, some in the middle, the last one and one behind it. */
function windowsOf(rows: number): Window[] {
  const last = Math.ceil(rows / PAGE_SIZE);
  const pages = [1, 2, Math.ceil(last / 3), Math.ceil(last / 2), last, last + 1].filter((page) => page > 0);
  return [...new Set(pages)].map((page) => ({ limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE }));
}

const CASES = FILTERS.flatMap(([user_filtering, isIn]) =>
  ([0, 1] as const).map((sort) => ({ user_filtering, isIn, sort, way: sort === 1 ? -1 : 1 })),
);

describe.each([
  ["name the account", () => named],
  ["partly name only the ad", () => unnamed],
])("where launches %s,", (_, populationOf) => {
  test.each(Object.entries(USER_FIELDS))("users follow %s, then a second field, then their id", async (field, read) => {
    const { app, users } = populationOf();
    for (const { user_filtering, isIn, sort, way } of CASES)
      for (const more of [[], [{ field: "Version", sort: 1 as const }]]) {
        const order_by_list = [{ field, sort }, ...more];
        const body = { app_id: app.appId, user_filtering, event_filtering: {}, order_by_list };
        const byVersion = (one: UserAccount, other: UserAccount) => more.length * (other.version - one.version);
        const expected = users
          .filter(isIn)
          .sort(
            (one, other) =>
              way * compare(read(one), read(other)) || byVersion(one, other) || compare(one.clientId, other.clientId),
          );
        for (const window of windowsOf(expected.length)) {
          const keys = await readUserPage(database.pool, readUserList(body, app), window);
          const wanted = expected.slice(window.offset, window.offset + window.limit);
          const idsOf = (rows: readonly { clientId: string }[]) => rows.map(({ clientId }) => clientId);
          expect({ body, window, ids: idsOf(keys) }).toEqual({ body, window, ids: idsOf(wanted) });
        }
      }
  });

  test.each(Object.entries(FIELDS))("orders follow %s of their users, then their trace id", async (field, read) => {
    const { app, users, orders } = populationOf();
    const byId = new Map(users.map((user) => [user.clientId, user]));
    const rows = orders.map(({ clientId, traceId }) => ({ traceId, user: byId.get(clientId)! }));
    for (const { user_filtering, isIn, sort, way } of CASES) {
      const body = { app_id: app.appId, user_filtering, event_filtering: {}, order_by_list: [{ field, sort }] };
      const expected = rows
        .filter(({ user }) => isIn(user))
        .sort((one, other) => way * compare(read(one.user), read(other.user)) || compare(one.traceId, other.traceId));
      for (const window of windowsOf(expected.length)) {
        const keys = await readOrderPage(database.pool, readOrderList(body, app), window);
        const wanted = expected.slice(window.offset, window.offset + window.limit);
        const idsOf = (list: readonly { traceId: string }[]) => list.map(({ traceId }) => traceId);
        expect({ body, window, ids: idsOf(keys) }).toEqual({ body, window, ids: idsOf(wanted) });
      }
    }
  });
});
